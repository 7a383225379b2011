from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tori_tui.domain.events import Record, SessionNamed
from tori_tui.domain.ids import Seq
from tori_tui.trace.codec import encode
from tori_tui.trace.errors import TraceMissing
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore
from tori_tui.trace.tail import TraceTail

AT = datetime(2026, 1, 1, tzinfo=UTC)


def record(number: int) -> Record:
    return Record(Seq(number), AT, SessionNamed(f"name {number}"))


def seqs(tail: TraceTail) -> list[int]:
    return [int(r.seq) for r in tail.records]


def test_it_reads_on_while_another_writes(tmp_path: Path) -> None:
    tail = TraceTail(tmp_path / "t")
    with JsonlTraceStore.open(tmp_path / "t") as store:
        store.append(record(1))
        assert [r.seq for r in tail.read()] == [1]
        assert not tail.has_grown()
        store.append(record(2))
        store.append(record(3))
        assert tail.has_grown()
        assert [r.seq for r in tail.read()] == [2, 3]
    assert seqs(tail) == [1, 2, 3]
    assert tail.read() == []


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_half_a_line_waits_for_its_other_half(tmp_path: Path, cut: int) -> None:
    file = tmp_path / MESSAGES_NAME
    whole = encode(record(2))
    file.write_bytes(encode(record(1)) + whole[:cut])
    tail = TraceTail(tmp_path)
    tail.read()
    assert (seqs(tail), tail.n_unfinished_bytes) == ([1], cut)
    with file.open("ab") as more:
        more.write(whole[cut:] + encode(record(3)))
    tail.read()
    assert (seqs(tail), tail.n_unfinished_bytes, tail.faults) == ([1, 2, 3], 0, [])


def test_a_last_line_that_only_lacks_its_newline_is_told_and_not_told_twice(tmp_path: Path) -> None:
    file = tmp_path / MESSAGES_NAME
    file.write_bytes(encode(record(1)).rstrip(b"\n"))
    tail = TraceTail(tmp_path)
    tail.read()
    with file.open("ab") as more:
        more.write(b"\n" + encode(record(2)))
    tail.read()
    assert (seqs(tail), tail.faults) == ([1, 2], [])


def test_what_is_broken_is_left_out_and_named_like_the_store_does(tmp_path: Path) -> None:
    lines = encode(record(1)) + b"\xff rubbish\n" + b"\0\0\0" + encode(record(2)) + encode(record(3))[:20]
    (tmp_path / MESSAGES_NAME).write_bytes(lines)
    tail = TraceTail(tmp_path)
    tail.read()
    with JsonlTraceStore.open(tmp_path, read_only=True) as store:
        assert list(store.records()) == tail.records
        assert [fault.line for fault in tail.faults] == [2, 3]
        assert tail.faults == list(store.faults)[:2]


def test_a_trace_that_is_gone_is_told_and_has_not_grown(tmp_path: Path) -> None:
    tail = TraceTail(tmp_path / "none")
    assert not tail.has_grown()
    with pytest.raises(TraceMissing):
        tail.read()
