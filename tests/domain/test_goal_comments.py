from __future__ import annotations

from dataclasses import replace

from tests.fakes.messages import state_of
from tori_tui.domain.events import CommentReceived, CommentRouted, DurableEvent, PlanChanged, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, CommentId, GoalId
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused
from tori_tui.domain.usage import Usage

AIMED = CommentReceived(CommentId("a"), "shorter, please", "goal:2'")
PLAIN = CommentReceived(CommentId("b"), "and test it")


def comments(*events: DurableEvent) -> dict[str, list[tuple[str, str]]]:
    return {
        goal: [(comment.text, comment.impact) for comment in of_goal]
        for goal, of_goal in state_of(*events).goal_comments.items()
    }


def test_an_aimed_comment_stands_at_its_goal_while_it_waits_and_once_when_it_took_effect() -> None:
    assert comments(AIMED) == {"2'": [("shorter, please", "")]}
    routed = CommentRouted(CommentId("a"), "current", "user", goal_ids=(GoalId("2'"),))
    assert comments(AIMED, routed) == {"2'": [("shorter, please", "current")]}


def test_a_comment_that_was_routed_stands_at_each_goal_that_it_is_about() -> None:
    routed = CommentRouted(CommentId("b"), "past", "classifier", goal_ids=(GoalId("1"), GoalId("3")))
    told = [("and test it", "past")]
    assert comments(PLAIN, routed) == {"1": told, "3": told}


def test_a_comment_that_names_no_goal_and_joins_the_work_stands_at_the_goal_in_work() -> None:
    goals = (GoalAdded(GoalId("1"), None, "Look"), GoalFocused(GoalId("1")))
    begun = PlanChanged(goals, "model")
    joined = CommentRouted(CommentId("b"), "current", "classifier")
    assert comments(begun, PLAIN, joined) == {"1": [("and test it", "current")]}
    assert comments(begun, PLAIN, replace(joined, impact="requirement_change")) == {}


def test_a_comment_that_was_taken_back_stands_nowhere() -> None:
    taken_back = CommentRouted(CommentId("a"), "future", "user", is_withdrawn=True)
    assert comments(AIMED, taken_back) == {"2'": []}


def test_a_goal_knows_that_a_price_is_missing() -> None:
    def turn(cost_usd: float | None) -> TurnFinished:
        usage = Usage(input_tokens=10)
        return TurnFinished(1, MAIN_CONTEXT, GoalId("1"), "x", "end", usage, cost_usd)

    assert not state_of(turn(0.1)).goal_stats[GoalId("1")].has_unpriced_turns
    assert state_of(turn(0.1), turn(None), turn(0.1)).goal_stats[GoalId("1")].has_unpriced_turns
