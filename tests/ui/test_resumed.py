from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import FakeSession, mission, said
from tests.ui.test_session_screen import RUNNING, live, ready
from tori_tui.domain.events import QuestionAsked, Record, RunStatusChanged, TextStreamed
from tori_tui.domain.ids import MAIN_CONTEXT, QuestionId, Seq
from tori_tui.runtime.bus import QUEUE_LIMIT_ITEMS
from tori_tui.ui.transcript.blocks import (
    Block,
)

QUESTION = QuestionAsked(QuestionId("q1"), "Which one?", ("red", "green"))


def told(stage: Stage) -> Sequence[Block]:
    return [block for _, block in stage.screen.story.blocks]


async def test_a_resumed_session_shows_what_the_live_one_showed() -> None:
    async with live(scenes.working_session()) as (stage, _):
        shown = told(stage)
        records = stage.session.records
    again = FakeSession(scenes.working_session())
    stage = Stage(session=again, records=records)
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        assert told(stage) == shown


async def test_a_resumed_session_whose_records_cannot_be_read_tells_what_was_said() -> None:
    def broken(directory: Path, before: Seq) -> Sequence[Record]:
        raise OSError(5, "Input/output error")

    stage = Stage(session=FakeSession([mission("go on"), said("go on")]), read_records=broken)
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        assert any("go on" in line for line in stage.screen.transcript.shown_text)


async def lag(stage: Stage) -> None:
    """More than a reader's queue holds, between two of its looks."""
    for n in range(QUEUE_LIMIT_ITEMS + 2):
        stage.session.emit(TextStreamed(MAIN_CONTEXT, "x"), said(f"word {n}"))


async def test_a_question_that_was_dropped_in_a_lag_is_asked_again() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.asked = (QUESTION,)
        await lag(stage)
        stage.session.emit(RunStatusChanged("waiting"), QUESTION)
        await pilot.pause(0.3)
        assert stage.screen.input.purpose.kind == "answer"
        assert stage.screen.input.purpose.question_id == "q1"


async def test_a_question_that_is_told_twice_keeps_what_was_written_for_it() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(QUESTION)
        await pilot.pause(0.1)
        await pilot.press(*"blu")
        stage.session.emit(QUESTION)
        await pilot.pause(0.1)
        assert stage.screen.input.text == "blu"
