"""When ended goals leave the view, and what stands in their place.

Pure: returns the record of a rewrite, or None. Must not fold the user's own words, nor split a call
from its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from tori_tui.context.fold_text import fold_text
from tori_tui.domain.events import Fold, MessagesFolded
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import CallId, ContextId, GoalId
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import ViewEntry

ProfileName = Literal["small", "economy", "balanced", "rich", "now", "never", "local"]

FOLDS_COMPLETED_AT_ONCE: Final[frozenset[str]] = frozenset({"now"})


def due_folds(state: SessionState, context: ContextId, profile_name: str) -> MessagesFolded | None:
    """Return the rewrite that is due now: abandoned goals at once, completed ones as the profile says.

    Goals that have ended and are not due stay marked in the state.
    """
    due = _outermost(state.tree, _due(state, profile_name))
    folds = tuple(fold for goal in due if (fold := _fold(state, context, goal)) is not None)
    if not folds:
        return None
    reasons = [f"goal {goal.id} {goal.status}" for goal in due if any(f.goal_id == goal.id for f in folds)]
    return MessagesFolded(context, ", ".join(reasons), folds)


def _due(state: SessionState, profile_name: str) -> list[GoalId]:
    ended = [goal for goal_id in state.ended_goals if (goal := state.tree.find(goal_id))]
    at_once = profile_name in FOLDS_COMPLETED_AT_ONCE
    return [goal.id for goal in ended if not goal.pinned and (at_once or goal.status == "abandoned")]


def _outermost(tree: GoalTree, due: Sequence[GoalId]) -> list[Goal]:
    """Return the due goals that no other due goal holds, in the order of their end."""
    marked = frozenset(due)
    paths = [tree.path_to(goal_id) for goal_id in due]
    return [path[-1] for path in paths if not any(above.id in marked for above in path[:-1])]


def _fold(state: SessionState, context: ContextId, goal: Goal) -> Fold | None:
    owned = frozenset(_foldable(goal))
    seqs = [seq for entry in _entries_of(state, context, owned) for seq in entry.seqs]
    if not seqs:
        return None
    messages = [entry.message for entry in state.log if entry.message.goal_id in owned]
    return Fold(tuple(seqs), fold_text(goal, messages), goal.id)


def _foldable(goal: Goal) -> Iterator[GoalId]:
    """Yield the goal's id and those below it, pinned ones and what they hold left out."""
    if goal.pinned:
        return
    yield goal.id
    for child in goal.children:
        yield from _foldable(child)


def _entries_of(state: SessionState, context: ContextId, owned: frozenset[GoalId]) -> Iterator[ViewEntry]:
    """Yield what goes: a result goes with its call, whoever it belongs to; open calls stay."""
    gone: set[CallId] = set()
    for entry in state.view(context).entries:
        message = entry.message
        if message.role == "tool":
            if message.tool_call_id in gone:
                yield entry
        elif message.goal_id in owned and not message.is_users_word:
            calls = {call.id for call in message.tool_calls}
            if not any(call_id in state.open_calls for call_id in calls):
                gone |= calls
                yield entry


__all__ = ["ProfileName", "due_folds"]
