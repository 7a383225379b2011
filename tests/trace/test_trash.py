from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.records import session, write_lines
from tori_tui.trace.catalog import find_trace, list_traces
from tori_tui.trace.errors import TraceError, TraceLocked, TraceMissing
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.trace.trash import restore_trace, trash_trace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_lines(tmp_path / "t1", session())
    write_lines(tmp_path / "t2", session())
    return tmp_path


def test_a_deleted_trace_is_in_no_list_and_comes_back_whole(root: Path) -> None:
    before = (root / "t1" / "messages.jsonl").read_bytes()
    place = trash_trace(root / "t1")
    assert place == root / ".trash" / "t1"
    assert [entry.id for entry in list_traces(root)] == ["t2"]
    with pytest.raises(TraceMissing):
        find_trace(root, "t1")
    assert restore_trace(place) == root / "t1"
    assert (root / "t1" / "messages.jsonl").read_bytes() == before
    assert {entry.id for entry in list_traces(root)} == {"t1", "t2"}


def test_an_open_trace_stays(root: Path) -> None:
    with JsonlTraceStore.open(root / "t1"), pytest.raises(TraceLocked):
        trash_trace(root / "t1")
    assert {entry.id for entry in list_traces(root)} == {"t1", "t2"}


def test_what_was_deleted_before_under_the_same_id_stays_in_the_trash(root: Path) -> None:
    trash_trace(root / "t1")
    write_lines(root / "t1", session()[:2])
    assert trash_trace(root / "t1") == root / ".trash" / "t1-2"
    assert (root / ".trash" / "t1").is_dir()


def test_nothing_is_put_over_another_trace(root: Path) -> None:
    place = trash_trace(root / "t1")
    write_lines(root / "t1", session())
    with pytest.raises(TraceError, match="is there already"):
        restore_trace(place)
    assert place.is_dir()
