from __future__ import annotations

from tests.ui.apps import Stage
from tests.ui.fakes import FakeSession, answered, call, plan
from tests.ui.test_session_screen import RUNNING, live, ready, sent
from tori_tui.domain.commands import ContinueRun
from tori_tui.domain.events import ApprovalChanged, CallStarted, RunStatusChanged
from tori_tui.domain.ids import ApprovalId, CallId, GoalId
from tori_tui.domain.plan_edits import GoalAdded
from tori_tui.ui.transcript.blocks import CallBlock

GOES_ON = "Enter goes on · or say what is to be done"

KILLED = (
    *RUNNING,
    answered("I mend it.", call("c1", "read_file", path="a"), call("c2", "edit_file", path="a")),
    CallStarted(CallId("c1"), "read_file"),
    ApprovalChanged(ApprovalId("p1"), CallId("c2"), "edit_file", "edit_file a", "asked"),
    RunStatusChanged("waiting"),
    RunStatusChanged("interrupted", "tori was killed", "runner"),
)


async def test_enter_in_the_empty_input_goes_on_after_an_interrupt_and_says_so() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press("enter")
        assert sent(stage) == []
        stage.session.emit(RunStatusChanged("interrupted"))
        await pilot.pause()
        assert str(stage.screen.input.placeholder) == GOES_ON
        await pilot.press("enter")
        assert sent(stage) == [ContinueRun()]
        stage.session.emit(RunStatusChanged("running", cwd="/tmp"), RunStatusChanged("done"))
        await pilot.pause()
        assert str(stage.screen.input.placeholder) == "What is to be done?"
        await pilot.press("enter")
        assert sent(stage) == [ContinueRun()]


async def test_enter_goes_on_with_a_goal_that_is_open_again_after_the_end() -> None:
    async with live((*RUNNING, RunStatusChanged("done"))) as (stage, pilot):
        assert str(stage.screen.input.placeholder) == "What is to be done?"
        stage.session.emit(plan(GoalAdded(GoalId("9"), None, "one more thing")))
        await pilot.pause()
        assert str(stage.screen.input.placeholder) == GOES_ON
        await pilot.press("enter")
        assert sent(stage) == [ContinueRun()]


async def test_a_session_that_was_killed_opens_at_rest_and_tells_how_to_go_on() -> None:
    session = FakeSession(KILLED)
    stage = Stage(session=session, records=session.records)
    async with stage.app.run_test(size=(80, 24)) as pilot:
        await ready(stage, pilot)
        screen = stage.screen
        assert screen.approvals.approval is None
        assert not screen.story.is_counting
        calls = [block for _, block in screen.story.blocks if isinstance(block, CallBlock)]
        assert [block.state for block in calls] == ["interrupted", "interrupted"]
        assert str(screen.input.placeholder) == GOES_ON
        assert screen.focused is screen.input
        await pilot.press("enter")
        assert sent(stage) == [ContinueRun()]
