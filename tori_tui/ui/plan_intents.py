"""What the user does in the goal tree, as edits of the plan.

Must not send them; the screen does, over the bridge.
"""

from __future__ import annotations

from dataclasses import replace

from tori_tui.domain.goal_call import GoalRefused, GoalWishes, abandon_goal, plan_goal_call
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalMoved, GoalRenamed, PlanEdit


def add_below(tree: GoalTree, goal_id: GoalId | None, text: str) -> tuple[PlanEdit, ...]:
    """Return the edits that add goals below a goal, or (None) at the top.

    Raises:
        GoalRefused: The text names no goal, or the goal takes none.
    """
    goal = tree.find(goal_id) if goal_id else None
    place = goal.id if goal is not None and goal.is_open else None
    return plan_goal_call(replace(tree, current_id=place), GoalWishes(add=text))


def rename(tree: GoalTree, goal_id: GoalId, text: str) -> tuple[PlanEdit, ...]:
    """Return the edit that gives a goal another description; none if it stays the same."""
    goal = tree.find(goal_id)
    description = " ".join(text.split())
    if goal is None or not description or description == goal.description:
        return ()
    return (GoalRenamed(goal_id, description),)


def move(tree: GoalTree, goal_id: GoalId, step: int) -> tuple[PlanEdit, ...]:
    """Return the edit that moves a goal one place among its siblings; none at the edge."""
    siblings = [goal.id for goal in tree.siblings_of(goal_id)]
    if goal_id not in siblings:
        return ()
    at = siblings.index(goal_id)
    others = siblings[:at] + siblings[at + 1 :]
    place = at + step
    if not 0 <= place <= len(others):
        return ()
    return (GoalMoved(goal_id, others[place - 1] if place else None),)


def focus(tree: GoalTree, goal_id: GoalId) -> tuple[PlanEdit, ...]:
    """Return the edits that focus a goal.

    Raises:
        GoalRefused: It has ended.
    """
    return plan_goal_call(tree, GoalWishes(focus=goal_id))


def drop(tree: GoalTree, goal_id: GoalId, reason: str) -> tuple[PlanEdit, ...]:
    """Return the edits that give a goal up.

    Raises:
        GoalRefused: It has ended already.
    """
    return abandon_goal(tree, goal_id, reason.strip() or "dropped by the user")


__all__ = ["GoalRefused", "add_below", "drop", "focus", "move", "rename"]
