"""Short ways to a goal tree, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import MissionId
from tori_tui.domain.plan_edits import MissionOpened, apply_edits


def mission(text: str = "Implement user authentication", tree: GoalTree | None = None) -> GoalTree:
    tree = tree or GoalTree()
    number = len(tree.missions) + 1
    return apply_edits(tree, [MissionOpened(MissionId(f"m{number}"), text)])


def called(
    tree: GoalTree,
    *,
    add: str | Sequence[str] | None = None,
    done: str | None = None,
    abandon: str | None = None,
    focus: str | None = None,
) -> GoalTree:
    return apply_edits(tree, plan_goal_call(tree, GoalWishes(add, done, abandon, focus)))


def worked_example() -> GoalTree:
    tree = called(mission(), add="Analyse the code, Plan A, Tests", focus="1")
    tree = called(tree, done="The user model is in models/user.py, bcrypt", focus="2")
    tree = called(tree, abandon="needs Redis", add="Plan B", focus="2'")
    tree = called(
        tree,
        add="Design the interface\nLogin endpoint [check: pytest -q tests/test_login.py]\nRegister endpoint",
        focus="2'.1",
    )
    return called(tree, done="Two routes, one table", focus="2'.2")
