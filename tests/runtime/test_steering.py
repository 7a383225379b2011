from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from tests.fakes.processes import pids_of
from tests.fakes.provider import Script, ScriptedProvider, ScriptedReply
from tests.fakes.session import Driver, driven, reply
from tori_tui.config import FeedbackSettings, Settings
from tori_tui.context.classify import CONTEXT
from tori_tui.domain.commands import AddComment, EditPlan, InterruptRun, SubmitPrompt
from tori_tui.domain.events import CommentRouted, PlanChanged, ToolRunStarted
from tori_tui.domain.goals import Budget
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.plan_edits import GoalBudgetSet, GoalRenamed
from tori_tui.domain.request import ModelRequest
from tori_tui.providers.base import StreamEvent

CLASSIFIED = Settings(feedback=FeedbackSettings(classifier="on"))


class ModelWithClassifier:
    """The turns of a script, and beside them a classifier that says one thing after a delay."""

    name = "scripted"

    def __init__(self, turns: Sequence[Script], delay_s: float = 0.0, **verdict: object) -> None:
        self.turns = ScriptedProvider(turns)
        self._delay_s = delay_s
        self._verdict = verdict
        self.questions: list[ModelRequest] = []

    async def prepare(self) -> None:
        await self.turns.prepare()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        if request.context != CONTEXT:
            async for event in self.turns.stream(request):
                yield event
            return
        self.questions.append(request)
        await asyncio.sleep(self._delay_s)
        answer = ScriptedProvider([ScriptedReply(json.dumps([{"remark": 1, **self._verdict}]))])
        async for event in answer.stream(request):
            yield event

    async def close(self) -> None:
        await self.turns.close()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


PLAN = reply("", goal={"add": "Read, Write, Test", "focus": "1"})
FIRST_DONE = reply("", goal={"done": "read it all", "focus": "2"})
SLOW = reply("", bash={"command": "echo begun; sleep 31.5"})
SHORT = reply("", bash={"command": "sleep 0.4; echo ran"})


async def comment_during_command(driver: Driver, text: str, aim: str = "") -> None:
    driver.session.send(SubmitPrompt("do it"))
    await driver.until(ToolRunStarted)
    driver.session.send(AddComment(CommentId("c1"), text, aim))


def shown(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages]


def finishing(*goals: str) -> list[ScriptedReply]:
    return [
        reply("", goal={"focus": g}) if n % 2 == 0 else reply("", goal={"done": "ok"})
        for g in goals
        for n in (0, 1)
    ]


async def test_a_comment_for_later_changes_a_pending_goal_and_the_running_tool_goes_on(tree: Path) -> None:
    model = ModelWithClassifier(
        [
            PLAN,
            FIRST_DONE,
            SHORT,
            reply("", goal={"done": "w", "focus": "3"}),
            reply("", goal={"done": "t"}),
            reply("ok"),
        ],
        impact="future",
        goals=["3"],
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "in the tests use tmp_path")
        state = await driver.until_ended()
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert (routed.impact, routed.decided_by, routed.cancels) == ("future", "classifier", False)
    goal = state.tree.find(GoalId("3"))
    assert goal is not None
    assert goal.description == "Test (user: in the tests use tmp_path)"
    assert any(m.message.text.startswith("ran") for m in state.log)
    assert "in the tests use tmp_path" in shown(model.turns.requests[3])[-1]


async def test_a_comment_on_the_current_goal_stands_in_the_first_request_after_its_verdict(
    tree: Path,
) -> None:
    model = ModelWithClassifier(
        [PLAN, FIRST_DONE, SHORT, *finishing("2", "3")[1:], reply("ok")], impact="current", goals=["2"]
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "mind the gap")
        await driver.until_ended()
    assert shown(model.turns.requests[3])[-1] == "mind the gap"
    assert len(model.questions) == 1


async def test_a_comment_on_the_past_reopens_its_goal_stops_the_work_and_keeps_what_is_done(
    tree: Path,
) -> None:
    model = ModelWithClassifier(
        [PLAN, FIRST_DONE, SLOW, *finishing("1'", "2", "3")[1:], reply("ok")],
        impact="past",
        goals=["1"],
        rejects=True,
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "the reading missed half")
        state = await driver.until_ended()
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert (routed.impact, routed.cancels) == ("past", True)
    first = state.tree.find(GoalId("1"))
    assert first is not None
    assert (first.status, first.summary, first.superseded_by) == ("completed", "read it all", "1'")
    assert pids_of("31.5", tree) == []
    request = model.turns.requests[3]
    assert request.late_system is not None
    assert "1'. Read  ← current" in request.late_system
    assert shown(request)[-1] == "the reading missed half"
    (digest,) = [text for text in shown(request) if "Cancelled here" in text]
    assert "echo begun; sleep 31.5" in digest
    assert not any(message.role == "tool" and message.goal_id == "2" for message in request.messages)
    assert state.status == "done"


async def test_a_changed_requirement_stops_the_work_and_asks_for_a_new_plan(tree: Path) -> None:
    model = ModelWithClassifier(
        [
            PLAN,
            FIRST_DONE,
            SLOW,
            reply("", goal={"abandon": "not wanted", "add": "Draw", "focus": "2'"}),
            reply("", goal={"done": "drawn", "focus": "3"}),
            reply("", goal={"abandon": "not wanted"}),
            reply("ok"),
        ],
        impact="requirement_change",
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "forget it, draw instead")
        state = await driver.until_ended()
    assert "Replan all that is left" in shown(model.turns.requests[3])[-2]
    assert shown(model.turns.requests[3])[-1] == "forget it, draw instead"
    assert [goal.status for goal in state.tree.goals] == ["completed", "abandoned", "completed", "abandoned"]


async def test_a_verdict_whose_goal_has_ended_meanwhile_is_decided_again(tree: Path) -> None:
    model = ModelWithClassifier(
        [PLAN, SHORT, FIRST_DONE, SLOW, *finishing("1'", "2", "3")[1:], reply("ok")],
        delay_s=1.2,
        impact="current",
        goals=["1"],
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "read the hidden files too")
        await driver.until_ended()
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert (routed.impact, routed.note) == ("past", "that goal had ended, so it is taken up again")


async def test_a_verdict_about_goals_that_are_not_there_joins_the_context_and_says_so(tree: Path) -> None:
    model = ModelWithClassifier(
        [PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("ok")], impact="past", goals=["77"]
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "hm")
        await driver.until_ended()
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert (routed.impact, routed.note) == (
        "current",
        "joined the context: the goals that it names are not there",
    )


async def test_a_run_never_waits_for_the_classifier_and_would_not_end_without_the_comment(tree: Path) -> None:
    script = [PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("first"), reply("second")]
    model = ModelWithClassifier(script, delay_s=60, impact="current")
    loop = asyncio.get_running_loop()
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        began = loop.time()
        await comment_during_command(driver, "and why?")
        state = await driver.until_ended()
        assert loop.time() - began < 5
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert (routed.decided_by, state.status) == ("fallback", "done")
    assert shown(model.turns.requests[-1])[-1] == "and why?"
    assert not any("and why?" in shown(request) for request in model.turns.requests[:-1])


async def test_a_comment_aimed_by_the_user_is_not_classified(tree: Path) -> None:
    model = ModelWithClassifier(
        [PLAN, FIRST_DONE, SLOW, *finishing("2", "3")[1:], reply("ok")], impact="future"
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        await comment_during_command(driver, "again, with care", aim="retry:2")
        await driver.until_ended()
        (routed,) = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert model.questions == []
    assert (routed.impact, routed.decided_by, routed.cancels) == ("current", "user", True)


async def test_several_comments_take_effect_each_once_and_in_order(tree: Path) -> None:
    model = ModelWithClassifier([PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("ok")], impact="current")
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        for n in range(5):
            driver.session.send(AddComment(CommentId(f"c{n}"), f"remark {n}", "now" if n % 2 else ""))
        state = await driver.until_ended()
    said = [entry.message.text for entry in state.log if entry.message.origin == "comment"]
    assert said == [f"remark {n}" for n in range(5)]
    assert not state.comments
    assert not state.routed


async def test_the_model_gets_a_short_diff_of_what_the_user_changed_in_the_plan(tree: Path) -> None:
    provider = ScriptedProvider([PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("ok")])
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(EditPlan((GoalRenamed(GoalId("3"), "Test on Windows"),)))
        await driver.until_ended()
    assert (
        shown(provider.requests[2])[-1] == "The user changed the plan. Goal 3 Test on Windows: reads so now."
    )


async def test_a_goal_whose_budget_is_spent_stops_and_the_rest_goes_on(tree: Path) -> None:
    script = [
        PLAN,
        SHORT,
        *[reply("", bash={"command": f"echo {n}"}) for n in range(2)],
        *finishing("2", "3"),
        reply("ok"),
    ]
    async with driven(script, tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(EditPlan((GoalBudgetSet(GoalId("1"), Budget(turns=3)),)))
        state = await driver.until_ended()
    first = state.tree.find(GoalId("1"))
    assert first is not None
    assert (first.status, first.summary) == ("abandoned", "budget spent: 3 of 3 turns")
    assert state.status == "done"


async def test_a_check_that_later_work_turned_red_is_found_before_the_run_ends(tree: Path) -> None:
    script = [
        reply(
            "", goal={"add": "Make [check: test -e made], Tidy", "focus": "1"}, bash={"command": "touch made"}
        ),
        reply("", goal={"done": "made", "focus": "2"}),
        reply("", bash={"command": "rm made"}),
        reply("", goal={"done": "tidy"}),
        reply("all done"),
        reply("", bash={"command": "touch made"}),
        reply("all done now"),
    ]
    provider = ScriptedProvider(script)
    async with driven(provider, tree) as driver:
        state = await driver.run("go")
        checks = [e for e in driver.events if isinstance(e, PlanChanged) and e.author == "runner"]
    assert state.status == "done"
    assert "Checks of finished goals are red again" in shown(provider.requests[5])[-1]
    assert len(checks) == 2


async def test_a_run_whose_finished_check_stays_red_ends_incomplete_and_names_it(tree: Path) -> None:
    script = [
        reply("", goal={"add": "Make [check: test -e made]", "focus": "1"}, bash={"command": "touch made"}),
        reply("", goal={"done": "made"}),
        reply("", bash={"command": "rm made"}),
        *[reply("all done")] * 3,
    ]
    async with driven(script, tree) as driver:
        state = await driver.run("go")
    assert (state.status, state.cause, state.reason) == ("incomplete", "check_red", "checks red again: 1")


async def test_in_an_idle_session_an_aimed_comment_goes_on_with_the_mission(tree: Path) -> None:
    script = [
        reply("", goal={"add": "Read", "focus": "1"}),
        reply("", goal={"done": "read"}),
        reply("all read"),
        reply("", goal={"done": "read again"}),
        reply("all read again"),
    ]
    provider = ScriptedProvider(script)
    async with driven(provider, tree) as driver:
        await driver.run("read it")
        state = await driver.run(AddComment(CommentId("c1"), "you missed a file", "retry:1"))
    assert [mission.text for mission in state.tree.missions] == ["read it"]
    assert [(goal.id, goal.status) for goal in state.tree.goals] == [("1", "completed"), ("1'", "completed")]
    assert shown(provider.requests[3])[-1] == "you missed a file"


async def test_in_an_idle_session_a_plain_comment_is_the_next_prompt(tree: Path) -> None:
    async with driven([reply("one"), reply("two")], tree) as driver:
        await driver.run("first")
        state = await driver.run(AddComment(CommentId("c1"), "second"))
    assert [mission.text for mission in state.tree.missions] == ["first", "second"]


async def test_a_word_after_an_interrupt_is_about_the_work_that_is_open(tree: Path) -> None:
    provider = ScriptedProvider([PLAN, SLOW, *finishing("1", "2", "3")[1:], reply("ok")])
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        await driver.run(InterruptRun())
        state = await driver.run(AddComment(CommentId("c1"), "shorter, please"))
    assert [mission.text for mission in state.tree.missions] == ["do it"]
    assert shown(provider.requests[2])[-1] == "shorter, please"
    assert state.status == "done"
