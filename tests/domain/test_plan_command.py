from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.test_routing import tree
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.goals import Budget, Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_command import read_plan_command
from tori_tui.domain.plan_edits import apply_edits


def after(command: str) -> GoalTree:
    return apply_edits(tree(), read_plan_command(tree(), command))


def goal(made: GoalTree, goal_id: str) -> Goal:
    found = made.find(GoalId(goal_id))
    assert found is not None
    return found


def test_add_puts_goals_at_the_top_or_below_one() -> None:
    assert goal(after("add Ship it [check: make ship]"), "4").check == "make ship"
    assert goal(after("add 3: Unit tests"), "3.1").description == "Unit tests"
    assert goal(after("add 3 more tests"), "4").description == "3 more tests"


def test_drop_keeps_the_reason_and_rename_the_id() -> None:
    assert goal(after("drop 3 no time"), "3").summary == "no time"
    assert goal(after("rename 3 Test on Windows"), "3").description == "Test on Windows"


@pytest.mark.parametrize(
    ("command", "order"),
    [
        ("move 3 first", "312"),
        ("move 1 last", "231"),
        ("move 1 down", "213"),
        ("move 3 up", "132"),
        ("move 1 after 2", "213"),
        ("move 1 up", "123"),
    ],
)
def test_move_changes_the_order_among_siblings(command: str, order: str) -> None:
    assert "".join(root.id for root in after(command).goals) == order


def test_done_by_the_user_leaves_the_focus_where_it_is_unless_it_stood_there() -> None:
    made = after("done 3 tested by hand")
    assert (goal(made, "3").status, goal(made, "3").summary, made.current_id) == (
        "completed",
        "tested by hand",
        "2.2",
    )
    assert after("done 2.2").current_id == "2"


def test_focus_check_pin() -> None:
    assert after("focus 3").current_id == "3"
    assert (goal(after("check 3 pytest -q"), "3").check, goal(after("check 3 pytest -q"), "3").check_by) == (
        "pytest -q",
        "user",
    )
    assert goal(after("check 3 off"), "3").check is None
    assert goal(after("pin 1"), "1").pinned
    assert not goal(after("unpin 1"), "1").pinned


@pytest.mark.parametrize(
    ("wish", "budget"),
    [
        ("$0.50", Budget(cost_usd=0.5)),
        ("2 usd", Budget(cost_usd=2.0)),
        ("5 turns", Budget(turns=5)),
        ("5", Budget(turns=5)),
        ("90 s", Budget(seconds=90)),
        ("2 min", Budget(seconds=120)),
        ("off", None),
    ],
)
def test_budgets(wish: str, budget: Budget | None) -> None:
    assert goal(after(f"budget 3 {wish}"), "3").budget == budget


@pytest.mark.parametrize(
    "command",
    [
        "",
        "nonsense",
        "drop",
        "drop 9",
        "drop 1",
        "rename 3",
        "move 3 nowhere",
        "budget 3 much",
        "add",
        "done 1",
        "done 2",
        "focus 1",
    ],
)
def test_what_cannot_be_done_is_refused_with_a_hint(command: str) -> None:
    with pytest.raises(GoalRefused) as refused:
        read_plan_command(tree(), command)
    assert refused.value.hint


@given(
    word=st.sampled_from(["add", "drop", "rename", "move", "focus", "done", "check", "budget", "pin"]),
    rest=st.text(max_size=40),
)
def test_any_text_is_edits_or_a_refusal(word: str, rest: str) -> None:
    try:
        edits = read_plan_command(tree(), f"{word} {rest}")
    except GoalRefused:
        return
    apply_edits(tree(), edits)
