"""What follows when the planner has its plan: the user approves it, changes it or cancels it.

Must not carry anything out; the default agent does, once the user has approved.
"""

from __future__ import annotations

from typing import Final

from tori_tui.domain.events import MessageAdded, NoticeShown, PlanChanged
from tori_tui.domain.goal_call import abandon_goal
from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_text import goal_title
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.turn_end import RunEnd

APPROVE: Final = "approve"
CHANGE: Final = "change"
CANCEL: Final = "cancel"

LISTED_GOALS: Final = 12
TITLE_LIMIT_CHARS: Final = 100

CANCELLED: Final = "the user cancelled the plan"


class PlanOffer:
    """Offers the goals of the plan to the user."""

    def __init__(self, recorder: Recorder, asking: Asking, identities: Identities) -> None:
        self._recorder = recorder
        self._asking = asking
        self._identities = identities

    @property
    def _state(self) -> SessionState:
        return self._recorder.state

    async def make(self) -> RunEnd | None:
        """Ask, and follow the answer; None if the run goes on."""
        answer = await self._asking.question(_question(self._state), (APPROVE, CHANGE, CANCEL))
        if answer is None:
            return RunEnd("incomplete", "the plan waits for your approval: /agent build", "goals_open")
        match answer.strip().lower():
            case "":
                return RunEnd("incomplete", "the plan waits for your approval", "goals_open")
            case "approve" | "yes" | "y":
                await self._approved()
                return None
            case "cancel" | "no" | "n":
                return await self._cancelled()
            case "change":
                return await self._changed(await self._asking.question("What should change?") or "")
            case _:
                return await self._changed(answer)

    async def _approved(self) -> None:
        await self._identities.manager.approve()
        if self._state.mode_in_force == "plan":
            text = "Mode plan only reads: /mode ask, edit or auto lets build write."
            self._recorder.announce(NoticeShown(text, "warning"))

    async def _changed(self, words: str) -> RunEnd | None:
        if not words.strip():
            return RunEnd("incomplete", "say what should change", "goals_open")
        state = self._state
        said = Message(state.active_context, state.tree.current_id, "user", words, origin="user")
        await self._recorder.record(MessageAdded(said))
        return None

    async def _cancelled(self) -> RunEnd:
        for goal in _offered(self._state):
            now = self._state.tree.find(goal.id)
            if now is not None and now.is_open:
                edits = abandon_goal(self._state.tree, goal.id, CANCELLED)
                await self._recorder.record(PlanChanged(edits, "user"))
        return RunEnd("interrupted", CANCELLED, "user")


def _question(state: SessionState) -> str:
    goals = state.tree.open_goals
    rows = [f"  goal {goal_title(goal, TITLE_LIMIT_CHARS)}" for goal in goals[:LISTED_GOALS]]
    more = [f"and {len(goals) - LISTED_GOALS} more"] if len(goals) > LISTED_GOALS else []
    return "\n".join(["Build this plan? Or say what should change.", *rows, *more])


def _offered(state: SessionState) -> tuple[Goal, ...]:
    """Return the open goals that came into the plan since the switch to the planner."""
    before = state.past.moment_at(state.switched_at)
    known = {goal.id for goal in before.tree.walk()} if before else set()
    return tuple(goal for goal in state.tree.open_goals if goal.id not in known)


__all__ = ["APPROVE", "CANCEL", "CHANGE", "PlanOffer"]
