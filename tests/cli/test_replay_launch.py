from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.message import Message

from tori_tui.cli.entry import replayed_trace
from tori_tui.cli.replay_session import LOOK_EVERY_S, damage_told, load_replay
from tori_tui.domain.events import Record, SessionNamed
from tori_tui.domain.ids import Seq
from tori_tui.trace.codec import encode
from tori_tui.trace.errors import TraceMissing
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore
from tori_tui.trace.tail import TraceTail
from tori_tui.ui.screens.replay import RecordsGrew


def record(number: int) -> Record:
    return Record(Seq(number), datetime(2026, 1, 1, tzinfo=UTC), SessionNamed(f"name {number}"))


async def test_what_another_process_writes_is_handed_on_and_nothing_before_that(tmp_path: Path) -> None:
    posted: asyncio.Queue[Message] = asyncio.Queue()
    with JsonlTraceStore.open(tmp_path / "t") as store:
        store.append(record(1))
        serving = asyncio.create_task(load_replay(tmp_path / "t").serve(posted.put_nowait))
        store.append(record(2))
        grew = await asyncio.wait_for(posted.get(), LOOK_EVERY_S * 10)
        serving.cancel()
    assert isinstance(grew, RecordsGrew)
    assert [r.seq for r in grew.records] == [1, 2]


def test_damage_is_told_with_its_places_and_an_unfinished_end_only_where_nobody_writes(
    tmp_path: Path,
) -> None:
    lines = encode(record(1)) + b"rubbish\n" * 7 + encode(record(2)) + b'{"v":1'
    (tmp_path / MESSAGES_NAME).write_bytes(lines)
    tail = TraceTail(tmp_path)
    tail.read()
    told = damage_told(tail, is_written=False).splitlines()
    assert told[0] == "8 damaged places"
    assert told[1].startswith("Line 2: ")
    assert told[-1] == "and 3 more"
    assert damage_told(tail, is_written=True).startswith("7 damaged places")
    tail.faults.clear()
    assert "The last 6 bytes are no whole record" in damage_told(tail, is_written=False)
    assert damage_told(tail, is_written=True) == ""


def test_a_trace_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceMissing):
        load_replay(tmp_path / "none")


def test_the_short_way_to_a_replay_is_taken_without_options_only() -> None:
    assert replayed_trace(["replay"]) == ""
    assert replayed_trace(["replay", "2026"]) == "2026"
    for other in ([], ["run"], ["replay", "--help"], ["replay", "a", "b"], ["replay", "--cwd", "/"]):
        assert replayed_trace(other) is None
