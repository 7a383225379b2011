"""The lines of the goal tree, from the state: missions, goals with their branches, what is hidden left out.

Pure. Must not draw a line; `goal_lines` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from tori_tui.domain.branches import branches_of_goal
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted
from tori_tui.render.branch import branch_line
from tori_tui.render.safe_text import one_line

NO_PLAN = "no plan: straight to work"
NO_HIT = "no goal fits"


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A visible line of the tree: a goal, or (goal None) a text about missions, branches or nothing."""

    goal: Goal | None
    depth: int
    text: str = ""
    is_hit: bool = True
    """False of a goal that is shown only because a filter found something below it."""


def visible_rows(
    state: SessionState, collapsed: Set[GoalId], hits: frozenset[GoalId] | None = None
) -> list[GoalRow]:
    """Return the lines from the top.

    Args:
        state: The session.
        collapsed: Goals whose children are hidden, unless a filter holds.
        hits: The goals that a filter found; None where there is none.
    """
    if hits is not None:
        found = [row for goal in state.tree.mission_goals for row in _found(state, goal, 0, hits)]
        return found or [GoalRow(None, 0, NO_HIT)]
    rows = [*_earlier_missions(state), *_branches(state, None, 0)]
    for goal in state.tree.mission_goals:
        rows.extend(_below(state, goal, 0, collapsed))
    if state.tree.mission is not None and not state.tree.mission_goals:
        rows.append(GoalRow(None, 0, NO_PLAN))
    return rows


def _earlier_missions(state: SessionState) -> Iterator[GoalRow]:
    tree = state.tree
    for mission in tree.missions:
        if mission.id != tree.mission:
            n_goals = len(mission.goal_ids)
            note = f" ({counted(n_goals, 'goal')})" if n_goals else ""
            yield GoalRow(None, 0, f"▪ {one_line(mission.text, 200)}{note}")


def _below(state: SessionState, goal: Goal, depth: int, collapsed: Set[GoalId]) -> Iterator[GoalRow]:
    yield GoalRow(goal, depth)
    if goal.id in collapsed:
        return
    yield from _branches(state, goal.id, depth + 1)
    for child in goal.children:
        yield from _below(state, child, depth + 1, collapsed)


def _found(state: SessionState, goal: Goal, depth: int, hits: frozenset[GoalId]) -> list[GoalRow]:
    """Return a goal with what was found in and below it; nothing where that is nothing."""
    is_hit = goal.id in hits
    below = [row for child in goal.children for row in _found(state, child, depth + 1, hits)]
    if not is_hit and not below:
        return []
    branches = _branches(state, goal.id, depth + 1) if is_hit else ()
    return [GoalRow(goal, depth, is_hit=is_hit), *branches, *below]


def _branches(state: SessionState, goal_id: GoalId | None, depth: int) -> Iterator[GoalRow]:
    """Yield the branches that work, or worked, for a goal, or for the mission itself."""
    for branch in branches_of_goal(state.branches, state.tree.mission, goal_id):
        yield GoalRow(None, depth, branch_line(branch, is_lost=state.past.is_lost(branch.seq)))


__all__ = ["NO_HIT", "NO_PLAN", "GoalRow", "visible_rows"]
