"""Words of the user at the moments where they are easily lost or doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.messages import assistant, records, state_of, user
from tests.fakes.provider import ScriptedProvider
from tests.fakes.session import driven, reply
from tests.fakes.store import FakeStore
from tests.runtime.test_steering import CLASSIFIED, PLAN, SHORT, SLOW, ModelWithClassifier, finishing, shown
from tori_tui.domain.commands import AddComment, EditPlan, InterruptRun, SubmitPrompt
from tori_tui.domain.events import (
    CallStarted,
    CommentReceived,
    CommentRouted,
    DurableEvent,
    MessageAdded,
    PlanChanged,
    Record,
    RunStatusChanged,
    ToolRunStarted,
)
from tori_tui.domain.goals import Budget
from tori_tui.domain.ids import CommentId, GoalId, MissionId
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalBudgetSet, GoalRenamed, MissionOpened
from tori_tui.domain.state import reduce_all
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.runner import can_continue
from tori_tui.runtime.steering import Steering
from tori_tui.trace.store import TraceStore


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


class StoreThatIsSlowAtTheEnd:
    """Calls back when it is to sync the last answer, and takes its time."""

    def __init__(self, store: TraceStore) -> None:
        self.at_the_end: Callable[[], None] = lambda: None
        self._store = store
        self._has_answer = False

    def append(self, record: Record) -> None:
        event = record.event
        self._has_answer |= isinstance(event, MessageAdded) and event.message.text == "ok"
        self._store.append(record)

    async def sync(self) -> None:
        await self._store.sync()
        if self._has_answer:
            self._has_answer = False
            self.at_the_end()
            await asyncio.sleep(0.05)

    def close(self) -> None:
        self._store.close()


async def test_a_comment_between_the_last_answer_and_the_end_of_the_run_is_answered(tree: Path) -> None:
    provider = ScriptedProvider([reply("ok"), reply("and that")])
    stores: list[StoreThatIsSlowAtTheEnd] = []

    def slowed(store: TraceStore) -> TraceStore:
        stores.append(StoreThatIsSlowAtTheEnd(store))
        return stores[0]

    async with driven(provider, tree, wrap_store=slowed) as driver:
        comment = AddComment(CommentId("c1"), "one more thing")
        stores[0].at_the_end = lambda: driver.session.send(comment)
        state = await driver.run("go")
    assert shown(provider.requests[1])[-1] == "one more thing"
    assert (state.status, dict(state.comments)) == ("done", {})


async def test_edits_of_the_plan_just_before_an_interrupt_are_made(tree: Path) -> None:
    async with driven([PLAN, SLOW], tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(EditPlan((GoalRenamed(GoalId("3"), "Test on Windows"),)))
        state = await driver.run(InterruptRun())
    goal = state.tree.find(GoalId("3"))
    assert goal is not None
    assert goal.description == "Test on Windows"


async def test_a_comment_beside_an_abort_is_answered_in_the_next_request(tree: Path) -> None:
    model = ModelWithClassifier(
        [
            PLAN,
            reply("", bash={"command": "sleep 0.3"}, abort={"reason": "no"}),
            reply("I see"),
            *[reply("hm")] * 3,
        ],
        delay_s=60,
        impact="current",
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(AddComment(CommentId("c1"), "there is one in /opt"))
        await driver.until_ended()
    assert shown(model.turns.requests[2])[-1] == "there is one in /opt"


async def test_a_word_for_now_does_not_wait_for_the_verdict_on_an_earlier_one(tree: Path) -> None:
    model = ModelWithClassifier(
        [PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("ok")], delay_s=60, impact="current"
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(AddComment(CommentId("c1"), "first"))
        driver.session.send(AddComment(CommentId("c2"), "second", "now"))
        await driver.until_ended()
    assert shown(model.turns.requests[2])[-2:] == ["first", "second"]


async def test_what_a_comment_means_is_not_said_twice_after_a_kill_between_the_two_messages() -> None:
    comment = CommentReceived(CommentId("c1"), "draw instead", "replan")
    first = FakeStore()
    events: list[DurableEvent | Message] = [
        PlanChanged((MissionOpened(MissionId("m1"), "go"), GoalAdded(GoalId("1"), None, "Read")), "user"),
        user("go"),
        assistant("I read."),
        comment,
    ]
    for record in records(events):
        first.append(record)
    recorder = Recorder(first, Bus(state_of(*events)), state_of(*events), FakeClock().as_clock())
    steering = Steering(recorder, NoClassifier())
    steering.find_verdicts()
    await steering.take_effect()
    whole = first.records()
    cut = next(
        n for n, r in enumerate(whole) if isinstance(r.event, MessageAdded) and r.event.message.comment_id
    )
    state = reduce_all(whole[:cut])
    assert "Replan" in state.log[len(state.log) - 1].message.text
    again = Recorder(FakeStore(), Bus(state), state, FakeClock().as_clock())
    await Steering(again, NoClassifier()).take_effect()
    assert [m.message.text for m in again.state.log] == [m.message.text for m in reduce_all(whole).log]


class NoClassifier:
    def notice(self, comment: CommentReceived) -> None:
        raise AssertionError(f"{comment.comment_id} is aimed")


async def test_what_a_classifier_takes_is_no_turn_of_the_goal(tree: Path) -> None:
    model = ModelWithClassifier(
        [PLAN, SHORT, reply("", bash={"command": "echo more"}), *finishing("1", "2", "3")[1:], reply("ok")],
        impact="current",
        goals=["1"],
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(EditPlan((GoalBudgetSet(GoalId("1"), Budget(turns=4)),)))
        driver.session.send(AddComment(CommentId("c1"), "mind the gap"))
        state = await driver.until_ended()
    assert [goal.status for goal in state.tree.goals] == ["completed"] * 3


DONE = (
    PlanChanged((MissionOpened(MissionId("m1"), "first"),), "user"),
    user("first"),
    RunStatusChanged("running"),
    assistant("One."),
    RunStatusChanged("done"),
)


def test_there_is_something_to_go_on_with_after_a_kill_just_behind_the_users_words() -> None:
    second = PlanChanged((MissionOpened(MissionId("m2"), "second"),), "user")
    assert not can_continue(state_of(*DONE))
    assert can_continue(state_of(*DONE, second))
    assert can_continue(state_of(*DONE, second, user("second")))
    assert can_continue(state_of(*DONE, user("one more word")))
    assert can_continue(state_of(*DONE, CommentReceived(CommentId("c1"), "again", "retry:1")))


def test_there_is_something_to_go_on_with_while_a_goal_is_open() -> None:
    """As after the user went back to it, or added it, when the mission was done."""
    added = PlanChanged((GoalAdded(GoalId("1"), None, "One more thing"),), "user")
    assert can_continue(state_of(*DONE, added))


def test_a_comment_that_was_routed_can_be_gone_on_with_until_it_is_said() -> None:
    comment = CommentReceived(CommentId("c1"), "again", "replan")
    routed = CommentRouted(CommentId("c1"), "requirement_change", "user")
    assert can_continue(state_of(*DONE, comment, routed))


async def test_what_is_said_in_the_moment_of_the_close_is_recorded(tree: Path) -> None:
    async with driven([PLAN, SLOW], tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        driver.session.send(AddComment(CommentId("c1"), "for tomorrow"))
        await driver.session.close()
        assert list(driver.session.state.comments) == ["c1"]


async def test_an_edit_of_the_plan_is_made_while_a_command_runs_and_told_after_it(tree: Path) -> None:
    provider = ScriptedProvider([PLAN, SHORT, *finishing("1", "2", "3")[1:], reply("ok")])
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(ToolRunStarted)
        for name in ("Test on Windows", "Test everywhere"):
            driver.session.send(EditPlan((GoalRenamed(GoalId("3"), name),)))
            await driver.until(PlanChanged)
        assert len(driver.session.state.open_calls) == 1
        goal = driver.session.state.tree.find(GoalId("3"))
        await driver.until_ended()
    assert goal is not None
    assert goal.description == "Test everywhere"
    roles = [message.role for message in provider.requests[2].messages]
    assert roles[-3:] == ["assistant", "tool", "user"]
    assert shown(provider.requests[2])[-1].startswith("The user changed the plan.")


async def test_an_edit_of_the_plan_waits_for_the_check_of_the_goal_that_it_drops(tree: Path) -> None:
    script = [
        reply("", goal={"add": "Make [check: sleep 0.4], Tell", "focus": "1"}),
        reply("", goal={"done": "made", "focus": "2"}),
        reply("", goal={"done": "told"}),
        reply("ok"),
    ]
    async with driven(script, tree) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await driver.until(CallStarted)
        driver.session.send(EditPlan((GoalAbandoned(GoalId("1"), "not wanted"),)))
        state = await driver.until_ended()
        authors = [event.author for event in driver.events if isinstance(event, PlanChanged)]
    assert authors == ["user", "model", "model", "user", "model"]
    assert [goal.status for goal in state.tree.goals] == ["abandoned", "completed"]
