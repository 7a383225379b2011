from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import FakeSession, mission, said
from tests.ui.test_session_screen import RUNNING, live, ready
from tori_tui.bootstrap import open_session, real_surroundings
from tori_tui.cli.app_session import demo_session
from tori_tui.cli.replay_session import saved_records
from tori_tui.domain.commands import SubmitPrompt
from tori_tui.domain.events import QuestionAsked, Record, RunStatusChanged, TextStreamed
from tori_tui.domain.ids import MAIN_CONTEXT, QuestionId, Seq
from tori_tui.domain.state import SessionState
from tori_tui.runtime.bus import QUEUE_LIMIT_ITEMS, Published, Resync
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    FoldBlock,
    GoalBlock,
    PromptBlock,
    RunBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.story import Story

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


def looks(block: Block) -> tuple[str, ...]:
    """What a reader sees of a block; words of the runner's that no record holds are left out."""
    match block:
        case AnswerBlock() | PromptBlock() | ThinkingBlock():
            return (type(block).__name__, block.text)
        case CallBlock():
            return ("call", block.name, block.state, block.output, str(block.arguments))
        case GoalBlock():
            return ("goal", str(block.goal_id), block.description)
        case FoldBlock():
            return ("fold", block.reason, *(fold.text for fold in block.folds))
        case RunBlock():
            return ("run", block.status, block.reason)
        case _:
            return ()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_replay_of_the_demo_shows_what_the_live_run_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    loaded, options, words = demo_session()
    surroundings = real_surroundings({**os.environ, "HOME": str(tmp_path)})
    session = await open_session(loaded.settings, options, surroundings)
    live, subscription = Story(), session.subscribe()
    running = asyncio.create_task(session.run())
    session.send(SubmitPrompt(words))
    async for item in subscription:
        match item:
            case Published():
                live.tell_record(item.record, item.state)
                if isinstance(item.record.event, RunStatusChanged) and item.record.event.status == "done":
                    break
            case Resync():
                raise AssertionError("the reader lagged")
            case _:
                live.tell_event(item, 0.0)
    await session.close()
    await running
    replayed = Story()
    replayed.tell_records(saved_records(session.directory), SessionState())
    shown = [look for _, block in live.blocks if (look := looks(block))]
    again = [look for _, block in replayed.blocks if (look := looks(block))]
    assert len(shown) > 20
    assert again == shown
