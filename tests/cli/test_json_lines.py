from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.messages import assistant, records, user
from tori_tui.cli.json_lines import JsonLines
from tori_tui.domain.events import NoticeShown, TextStreamed
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.runtime.bus import Published, Resync
from tori_tui.trace.codec import encode
from tori_tui.trace.store import JsonlTraceStore


@dataclass
class FakeSession:
    directory: Path
    state: SessionState


def test_durable_events_are_printed_as_the_trace_has_them(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = JsonLines()
    said = records([user("hi \x9b"), assistant("é \ud800")])
    lines.begin(FakeSession(tmp_path, SessionState()), ())
    for record in said:
        lines.show(Published(record, SessionState()))
    assert capfdbinary.readouterr().out == b"".join(encode(record) for record in said)


def test_transient_events_have_their_kind_and_their_fields(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = JsonLines()
    lines.begin(FakeSession(tmp_path, SessionState()), ("take care",))
    lines.show(TextStreamed(MAIN_CONTEXT, "half \ud800"))
    printed = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert printed == [
        {"v": 1, "kind": NoticeShown.kind, "text": "take care", "level": "info"},
        {"v": 1, "kind": "text", "context": "main", "text": "half ?"},
    ]


def test_a_reader_that_lagged_gets_what_the_queue_dropped(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    said = records([user(str(number)) for number in range(9)])
    store = JsonlTraceStore.open(tmp_path / "t")
    for record in said:
        store.append(record)
    store.close()
    lines = JsonLines()
    lines.begin(FakeSession(tmp_path / "t", SessionState()), ())
    lines.show(Published(said[0], reduce_all(said[:1])))
    lines.show(Resync(reduce_all(said[:7])))
    lines.show(Published(said[7], reduce_all(said[:8])))
    printed = [json.loads(line)["seq"] for line in capfdbinary.readouterr().out.splitlines()]
    assert printed == [1, 2, 3, 4, 5, 6, 7, 8]
