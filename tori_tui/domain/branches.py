"""The branches of a session as its records tell of them.

Pure. Must not know how a branch runs, nor how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tori_tui.domain.branch_events import BranchChanged, BranchMode
from tori_tui.domain.ids import BranchId, CallId, GoalId, MissionId, Seq
from tori_tui.domain.usage import Usage
from tori_tui.domain.value import Value

if TYPE_CHECKING:
    from tori_tui.domain.state import SessionState


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Branch(Value):
    """One branch as it stands."""

    id: BranchId
    call_id: CallId
    seq: Seq
    """The record that planned it; a rewind to before that takes it out of the session."""
    mission_id: MissionId | None
    goal_id: GoalId | None
    direction: str
    mode: BranchMode
    trace: str = ""
    """Its folder under `branches/`; empty before it started."""
    n_starts: int = 0
    """More than one where tori was killed meanwhile and it began anew."""
    n_turns: int = 0
    """Since its newest start."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    is_priced: bool = True
    """Whether the price of all its turns is known."""
    end: BranchChanged | None = None
    is_adopted: bool = False

    @property
    def state(self) -> str:
        """How it stands, in one word: `waiting`, `running`, or its outcome."""
        if self.end is not None:
            return self.end.outcome
        return "running" if self.trace else "waiting"

    def after(self, event: BranchChanged) -> Branch:
        """Return the branch after one more step."""
        match event.action:
            case "started":
                return replace(self, trace=event.trace, n_starts=self.n_starts + 1, n_turns=0, end=None)
            case "turn":
                return replace(
                    self,
                    n_turns=self.n_turns + 1,
                    usage=self.usage + event.usage,
                    cost_usd=self.cost_usd + (event.cost_usd or 0.0),
                    is_priced=self.is_priced and event.cost_usd is not None,
                )
            case "ended":
                return replace(self, end=event)
            case "adopted":
                return replace(self, is_adopted=True)
            case "planned":
                return self


def branch_after(
    known: Branch | None, event: BranchChanged, seq: Seq, mission_id: MissionId | None
) -> Branch | None:
    """Return a branch after a step; None for a step of one that was never planned."""
    if known is None and event.action == "planned":
        return Branch(
            event.branch_id, event.call_id, seq, mission_id, event.goal_id, event.direction, event.mode
        )
    return known.after(event) if known is not None else None


def branches_of_call(branches: Mapping[BranchId, Branch], call_id: CallId) -> tuple[Branch, ...]:
    """Return the branches of one call, in the order in which the model wrote their directions."""
    return tuple(branch for branch in branches.values() if branch.call_id == call_id)


def branches_of_goal(
    branches: Mapping[BranchId, Branch], mission_id: MissionId | None, goal_id: GoalId | None
) -> tuple[Branch, ...]:
    """Return the branches that work for a goal; with None for the goal, for the mission itself."""
    mine = (branch for branch in branches.values() if branch.goal_id == goal_id)
    return tuple(branch for branch in mine if goal_id is not None or branch.mission_id == mission_id)


def is_resumable(state: SessionState, call_id: CallId) -> bool:
    """Say whether an open call has branches and belongs to the mission that is worked on."""
    call = state.open_calls.get(call_id)
    if call is None or not branches_of_call(state.branches, call_id):
        return False
    asking = next((entry for entry in reversed(state.log) if entry.seq == call.message_seq), None)
    return asking is not None and asking.mission_id == state.tree.mission


def next_branch_ids(branches: Iterable[BranchId], count: int) -> tuple[BranchId, ...]:
    """Return ids that no branch of the session has: numbers that go on counting."""
    used = max((int(branch_id) for branch_id in branches if branch_id.isdecimal()), default=0)
    return tuple(BranchId(str(used + number)) for number in range(1, count + 1))


__all__ = [
    "Branch",
    "branch_after",
    "branches_of_call",
    "branches_of_goal",
    "is_resumable",
    "next_branch_ids",
]
