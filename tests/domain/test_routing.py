from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import GoalId, MissionId
from tori_tui.domain.plan_edits import MissionOpened, apply_edits
from tori_tui.domain.routing import INJECTION, Impact, Routing, Verdict, aimed_verdict, route


def tree() -> GoalTree:
    """1 is done, 2 is worked on with 2.1 done and 2.2 focused, 3 is pending."""
    made = apply_edits(GoalTree(), (MissionOpened(MissionId("m1"), "build it"),))
    for wishes in (
        GoalWishes(add="Read, Write, Test", focus="1"),
        GoalWishes(done="read it", focus="2"),
        GoalWishes(add="Draft, Polish", focus="2.1"),
        GoalWishes(done="drafted", focus="2.2"),
    ):
        made = apply_edits(made, plan_goal_call(made, wishes))
    return made


def routed(
    impact: Impact, *goals: str, rejects: bool = False, confidence: float = 1.0, text: str = "x"
) -> Routing:
    return route(tree(), text, Verdict(impact, tuple(map(GoalId, goals)), rejects, confidence))


@pytest.mark.parametrize("said", ["future", "current", "past"])
@pytest.mark.parametrize(
    ("goal", "real"), [("1", "past"), ("2.1", "past"), ("2", "current"), ("2.2", "current"), ("3", "future")]
)
def test_the_state_of_the_goal_decides_whatever_the_verdict_said(
    said: Impact, goal: str, real: Impact
) -> None:
    routing = routed(said, goal)
    assert routing.impact == real
    assert bool(routing.note) == (said != real)


def test_a_pending_goal_gets_the_comment_behind_its_description() -> None:
    after = apply_edits(tree(), routed("future", "3", text="use pytest").edits)
    goal = after.find(GoalId("3"))
    assert goal is not None
    assert (goal.description, goal.status) == ("Test (user: use pytest)", "pending")


def test_a_pending_goal_that_is_turned_down_is_dropped_with_that_reason() -> None:
    after = apply_edits(tree(), routed("future", "3", rejects=True, text="no tests yet").edits)
    goal = after.find(GoalId("3"))
    assert goal is not None
    assert (goal.status, goal.summary) == ("abandoned", "user: no tests yet")


def test_a_wish_for_later_that_names_no_goal_becomes_the_next_one() -> None:
    after = apply_edits(tree(), routed("future", text="write\nthe docs").edits)
    goal = after.find(GoalId("4"))
    assert goal is not None
    assert goal.description == "write the docs"


def test_a_finished_goal_gets_a_focused_replacement_and_stays_as_it_was() -> None:
    routing = routed("past", "1")
    after = apply_edits(tree(), routing.edits)
    old = after.find(GoalId("1"))
    assert old is not None
    assert (old.status, old.summary, old.superseded_by) == ("completed", "read it", "1'")
    assert after.current_id == "1'"
    assert routing.cancels


def test_a_goal_that_was_reopened_is_meant_by_its_newest_form() -> None:
    once = apply_edits(tree(), routed("past", "1").edits)
    again = route(once, "x", Verdict("past", (GoalId("1"),)))
    assert (again.impact, again.goal_ids) == ("current", ("1'",))


@pytest.mark.parametrize("impact", ["past", "requirement_change"])
def test_work_is_not_cancelled_for_a_verdict_that_is_a_coin_toss(impact: Impact) -> None:
    goals = ("1",) if impact == "past" else ()
    routing = routed(impact, *goals, confidence=0.3)
    assert (routing.impact, routing.cancels, routing.edits) == ("current", False, ())
    assert "unsure" in routing.note


def test_a_remark_on_the_past_without_a_goal_concerns_the_whole_plan() -> None:
    assert routed("past").impact == "requirement_change"


def test_goals_that_are_not_there_make_it_plain_injection() -> None:
    routing = routed("future", "9", "8")
    assert (routing.impact, routing.edits, routing.cancels) == ("current", (), False)


@pytest.mark.parametrize(
    ("aim", "impact", "cancels"),
    [
        ("now", "current", False),
        ("later", "future", False),
        ("replan", "requirement_change", True),
        ("retry:1", "past", True),
        ("retry:2.2", "current", True),
        ("goal:3", "future", False),
        ("goal:1", "past", True),
        ("goal:2", "current", False),
    ],
)
def test_the_user_can_aim_himself(aim: str, impact: Impact, cancels: bool) -> None:
    verdict = aimed_verdict(aim, tree())
    assert verdict is not None
    routing = route(tree(), "x", verdict)
    assert (routing.impact, routing.cancels, routing.decided_by) == (impact, cancels, "user")


def test_without_an_aim_there_is_no_verdict_and_injection_only_joins() -> None:
    assert aimed_verdict("", tree()) is None
    assert route(tree(), "x", INJECTION) == Routing("current", (), False, (), "fallback")


@given(
    impact=st.sampled_from(["future", "current", "past", "requirement_change"]),
    goals=st.lists(st.sampled_from(["1", "2", "2.1", "2.2", "3", "7", "1'"]), max_size=4, unique=True),
    rejects=st.booleans(),
    confidence=st.floats(0, 1),
    text=st.text(max_size=400),
)
def test_any_verdict_leaves_a_plan_in_which_what_was_done_stays_done(
    impact: Impact, goals: list[str], rejects: bool, confidence: float, text: str
) -> None:
    before = tree()
    routing = route(before, text, Verdict(impact, tuple(map(GoalId, goals)), rejects, confidence))
    after = apply_edits(before, routing.edits)
    for goal in before.walk():
        kept = after.find(goal.id)
        assert kept is not None
        if goal.status == "completed":
            assert (kept.status, kept.summary) == (goal.status, goal.summary)
    assert len({goal.id for goal in after.walk()}) == len(list(after.walk()))
