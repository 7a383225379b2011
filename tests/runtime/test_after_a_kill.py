from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.session import MODEL, driven, reply
from tori_tui.bootstrap import SessionOptions
from tori_tui.domain.commands import ContinueRun, SwitchMode
from tori_tui.domain.events import (
    ApprovalChanged,
    DurableEvent,
    MessageAdded,
    Mode,
    PlanChanged,
    Record,
    RunStatusChanged,
)
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, MissionId, Seq
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.trace.store import JsonlTraceStore

AT = datetime(2026, 1, 1, tzinfo=UTC)

ASKED_FOR = (
    PlanChanged((MissionOpened(MissionId("m1"), "mend add"),), "user"),
    MessageAdded(Message(MAIN_CONTEXT, None, "user", "mend add")),
    RunStatusChanged("running", model=MODEL, mode="plan", cwd="/tmp"),
)

WAITING = (
    MessageAdded(
        Message(
            MAIN_CONTEXT,
            None,
            "assistant",
            "I mend it.",
            tool_calls=(ToolCall(CallId("c1"), "write_file", {"path": "a.txt", "content": "a"}),),
        )
    ),
    ApprovalChanged(ApprovalId("p1"), CallId("c1"), "write_file", "write_file a.txt", "asked"),
    RunStatusChanged("waiting", reason="approval of write_file a.txt"),
)


def killed(place: Path, events: Sequence[DurableEvent], mode: Mode | None = None) -> SessionOptions:
    """Leave a trace as a kill leaves it, and return what resumes it."""
    directory = place / ".trace" / "20260101-000000-abcd"
    with JsonlTraceStore.open(directory) as store:
        for number, event in enumerate(events, 1):
            store.append(Record(Seq(number), AT, event))
    return SessionOptions(cwd=place, model=MODEL, mode=mode, resume=directory.name, has_user=True)


@pytest.mark.parametrize("then", [(), WAITING], ids=["in-a-request", "at-a-question"])
async def test_a_run_that_was_killed_stands_as_interrupted_and_goes_on_when_asked(
    tmp_path: Path, then: Sequence[DurableEvent]
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    options = killed(place, (*ASKED_FOR, *then))
    async with driven([reply("Mended.")], place, options=options) as driver:
        state = driver.session.state
        assert (state.status, state.reason) == ("interrupted", "tori was killed")
        assert not state.approvals
        assert not driver.session.is_running
        state = await driver.run(ContinueRun())
        assert state.status == "done"
        assert not state.open_calls


async def test_a_switch_back_to_what_it_was_holds_against_the_command_line(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    options = killed(place, (*ASKED_FOR, RunStatusChanged("interrupted")), mode="auto")
    async with driven([reply("Looked.")], place, options=options) as driver:
        driver.session.send(SwitchMode("plan"))
        state = await driver.run(ContinueRun())
        assert state.mode == "plan"
