"""Which records of a finished story led to where it ended: without what was rewound, given up or not adopted.

Pure. Must not change what happened; it only says what to leave out when it is told again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tori_tui.domain.branches import Branch
from tori_tui.domain.events import BranchChanged, MessageAdded, MessagesFolded, PlanChanged, Record
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import BranchId, GoalId, Seq
from tori_tui.domain.moments import Span
from tori_tui.domain.plan_edits import MissionCheckSet, MissionOpened, PlanEdit
from tori_tui.domain.state import SessionState


@dataclass(frozen=True, slots=True)
class CountedPath:
    """What did not count in the end."""

    rewound: tuple[Span, ...] = ()
    """In order, none within another."""
    given_up: frozenset[GoalId] = frozenset()
    """Abandoned goals, with everything below them."""
    branches: frozenset[BranchId] = frozenset()
    """Whose work was never adopted."""

    def told(self, record: Record) -> Record | None:
        """Return what of a record counted; None where nothing of it did."""
        if self.is_rewound(record.seq):
            return None
        match event := record.event:
            case MessageAdded(message):
                # The user's words count wherever they fell.
                is_left_out = message.goal_id in self.given_up and not message.is_users_word
                return None if is_left_out else record
            case PlanChanged(edits):
                return self._plan(record, event, tuple(edit for edit in edits if not self._is_of(edit)))
            case MessagesFolded(folds=folds):
                return None if folds and all(fold.goal_id in self.given_up for fold in folds) else record
            case BranchChanged():
                return None if event.branch_id in self.branches else record
            case _:
                return record

    def seen(self, state: SessionState) -> SessionState:
        """Return a state without the goals and branches that did not count."""
        if not (self.given_up or self.branches):
            return state
        tree = state.tree
        current = None if tree.current_id in self.given_up else tree.current_id
        branches = {key: branch for key, branch in state.branches.items() if key not in self.branches}
        return replace(
            state,
            tree=replace(tree, goals=self._kept(tree.goals), current_id=current),
            branches=MappingProxyType(branches),
        )

    def is_rewound(self, seq: Seq) -> bool:
        """Say whether a record was taken back."""
        index = bisect_right(self.rewound, seq, key=lambda span: span.first)
        return index > 0 and seq <= self.rewound[index - 1].last

    def _kept(self, goals: Iterable[Goal]) -> tuple[Goal, ...]:
        kept = (goal for goal in goals if goal.id not in self.given_up)
        return tuple(
            replace(goal, children=self._kept(goal.children)) if goal.children else goal for goal in kept
        )

    def _is_of(self, edit: PlanEdit) -> bool:
        is_of_mission = isinstance(edit, (MissionOpened, MissionCheckSet))
        return not is_of_mission and edit.id in self.given_up

    def _plan(self, record: Record, event: PlanChanged, edits: tuple[PlanEdit, ...]) -> Record | None:
        if len(edits) == len(event.edits):
            return record
        return replace(record, event=replace(event, edits=edits)) if edits else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much a path leaves out."""

    n_goals: int
    n_messages: int
    n_rewound: int
    """Of these messages, those that a rewind took back."""
    n_branches: int


def counted_path(state: SessionState) -> CountedPath:
    """Return the path that led to a state."""
    given_up = frozenset(
        below.id for goal in state.tree.walk() if goal.status == "abandoned" for below in goal.walk()
    )
    branches = (branch for branch in state.branches.values() if _is_idle(branch))
    return CountedPath(_joined(state.past.lost), given_up, frozenset(branch.id for branch in branches))


def left_out(path: CountedPath, records: Sequence[Record]) -> LeftOut:
    """Return how much of the records a path leaves out."""
    hidden = [record for record in records if path.told(record) is None]
    messages = [record for record in hidden if isinstance(record.event, MessageAdded)]
    return LeftOut(
        n_goals=len(path.given_up),
        n_messages=len(messages),
        n_rewound=sum(path.is_rewound(record.seq) for record in messages),
        n_branches=len(path.branches),
    )


def _is_idle(branch: Branch) -> bool:
    """Say whether a branch could have been adopted and was not; what others found out was heard anyway."""
    return branch.mode == "implement" and not branch.is_adopted


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: span.first):
        if joined and span.first <= joined[-1].last + 1:
            joined[-1] = Span(joined[-1].first, max(joined[-1].last, span.last))
        else:
            joined.append(span)
    return tuple(joined)


__all__ = ["CountedPath", "LeftOut", "counted_path", "left_out"]
