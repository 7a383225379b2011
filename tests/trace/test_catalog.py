from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.trace.records import messages, session, write_lines
from tori_tui.trace.catalog import find_trace, list_traces, new_trace_id, search_traces, trace_root_for
from tori_tui.trace.errors import TraceError, TraceMissing
from tori_tui.trace.projections import rebuild
from tori_tui.trace.store import JsonlTraceStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".trace"


def aged(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))


def test_a_folder_that_is_not_there_has_no_traces(root: Path) -> None:
    assert list_traces(root) == ()


@pytest.mark.parametrize("has_meta", [True, False])
def test_an_entry_says_what_the_trace_is_about(root: Path, has_meta: bool) -> None:
    write_lines(root / "t1", session("Fix the parser"))
    if has_meta:
        rebuild(root / "t1")
    (entry,) = list_traces(root)
    assert (entry.id, entry.mission, entry.n_missions, entry.status) == ("t1", "Fix the parser", 1, "done")
    assert entry.path == root / "t1"
    assert entry.created_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert entry.updated_at == datetime(2026, 1, 1, 0, 0, 3, tzinfo=UTC)


def test_the_newest_change_comes_first(root: Path) -> None:
    write_lines(root / "t1", session())
    write_lines(root / "t2", session()[:2])
    write_lines(root / "t3", session()[:3])
    assert [entry.id for entry in list_traces(root)] == ["t1", "t3", "t2"]


def test_records_after_the_projection_count(root: Path) -> None:
    path = write_lines(root / "t1", session()[:3])
    rebuild(root / "t1")
    aged(root / "t1" / "meta.json", 1_000)
    write_lines(root / "t1", session())
    assert path.stat().st_mtime > 1_000
    assert list_traces(root)[0].status == "done"


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"{}", b"\xff"])
def test_a_spoilt_projection_is_passed_over(root: Path, content: bytes) -> None:
    write_lines(root / "t1", session("Fix it"))
    (root / "t1" / "meta.json").write_bytes(content)
    assert list_traces(root)[0].mission == "Fix it"


@pytest.mark.parametrize("has_meta", [True, False])
def test_a_run_whose_process_is_gone_was_interrupted(root: Path, has_meta: bool) -> None:
    write_lines(root / "t1", session(status="running"))
    if has_meta:
        rebuild(root / "t1")
    assert list_traces(root)[0].status == "interrupted"
    with JsonlTraceStore.open(root / "t1"):
        assert list_traces(root)[0].status == "running"


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\x80rubbish\n", b'{"v":9}\n'])
def test_a_broken_trace_is_listed_all_the_same(root: Path, content: bytes) -> None:
    write_lines(root / "t1", [], content)
    (root / "a file").write_bytes(b"")
    (root / "no trace").mkdir()
    (entry,) = list_traces(root)
    assert (entry.id, entry.mission, entry.status) == ("t1", "", "")


def test_a_huge_trace_and_a_thousand_small_ones_list_at_once(root: Path) -> None:
    huge = write_lines(root / "huge", session("A long way"))
    with huge.open("r+b") as file:
        file.truncate(500_000_000)
    for number in range(1_000):
        write_lines(root / f"t{number}", session())
        rebuild(root / f"t{number}")
    best_s = 9.0
    for _ in range(3):
        began = time.perf_counter()
        entries = list_traces(root)
        best_s = min(best_s, time.perf_counter() - began)
    assert len(entries) == 1_001
    assert {entry.mission for entry in entries} == {"A long way", "Fix the parser"}
    # The bar is 0.2 s on a quiet machine; a whole read of the huge one takes longer than this.
    assert best_s < 0.4


# ── names ────────────────────────────────────────────────────────────────────────────────


def test_an_id_sorts_by_time() -> None:
    earlier = new_trace_id(datetime(2026, 11, 30, 10, 15, tzinfo=UTC), "a3f9c0de")
    later = new_trace_id(datetime(2026, 11, 30, 10, 15, 1, tzinfo=UTC), "00000000")
    assert earlier == "20261130-101500-a3f9"
    assert earlier < later


@pytest.fixture
def three(root: Path) -> Path:
    for number, name in enumerate(["20261130-101500-a3f9", "20261130-101500-b000", "20261201-080000-a3f9"]):
        aged(write_lines(root / name, messages(1)), 1_000 - number)
    return root


@pytest.mark.parametrize("latest", [None, "", "latest"])
def test_without_a_name_it_is_the_one_that_changed_last(three: Path, latest: str | None) -> None:
    assert find_trace(three, latest).name == "20261130-101500-a3f9"


@pytest.mark.parametrize("prefix", ["202612", "20261201-080000-a3f9"])
def test_an_id_or_its_beginning_is_enough(three: Path, prefix: str) -> None:
    assert find_trace(three, prefix) == three / "20261201-080000-a3f9"


def test_a_path_names_a_trace_too(three: Path, tmp_path: Path) -> None:
    assert find_trace(tmp_path / "elsewhere", str(three / "20261201-080000-a3f9")).parent == three


def test_an_exact_id_wins_over_longer_ones(root: Path) -> None:
    write_lines(root / "t1", messages(1))
    write_lines(root / "t12", messages(1))
    assert find_trace(root, "t1").name == "t1"


def test_a_beginning_that_fits_several_names_them(three: Path) -> None:
    with pytest.raises(TraceError, match=r"fits 2 traces: 20261130-101500-a3f9, 20261130-101500-b000\."):
        find_trace(three, "20261130")


def test_a_beginning_that_fits_none_names_what_there_is(three: Path) -> None:
    with pytest.raises(TraceMissing, match=r"begins with '2027'\.\nThere are: .*20261201-080000-a3f9"):
        find_trace(three, "2027")


def test_without_any_trace_it_says_how_to_make_one(root: Path) -> None:
    with pytest.raises(TraceMissing, match="tori run"):
        find_trace(root, None)
    with pytest.raises(TraceMissing, match="There is none yet"):
        find_trace(root, "2026")


# ── where traces lie ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("is_linked", [True, False])
def test_traces_lie_in_the_root_of_the_work_tree(tmp_path: Path, is_linked: bool) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    if is_linked:
        (tmp_path / ".git").write_text("gitdir: /elsewhere")
    else:
        (tmp_path / ".git").mkdir()
    assert trace_root_for(below) == (tmp_path / ".trace", False)


def test_outside_of_git_traces_lie_in_the_directory_itself(tmp_path: Path) -> None:
    assert trace_root_for(tmp_path) == (tmp_path / ".trace", False)


def test_where_nothing_can_be_written_traces_lie_in_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    # /proc is read-only even to root.
    folder, is_fallback = trace_root_for(Path("/proc/self"))
    assert is_fallback
    assert folder.parent == tmp_path / "tori" / "traces"
    assert folder != trace_root_for(Path("/proc"))[0]


@pytest.mark.parametrize(
    ("words", "n_found"),
    [
        ("", 2),
        ("20", 2),
        ("2026120", 1),
        ("a3f9", 1),
        ("MEND", 1),
        ("docs mend", 0),
        ("docs 2", 1),
        ("docs 2026120", 1),
    ],
)
def test_words_are_looked_for_in_missions_and_long_ones_in_ids(root: Path, words: str, n_found: int) -> None:
    for name, mission in (
        ("20261130-101500-a3f9", "Mend the login"),
        ("20261201-080000-b000", "Write docs 2"),
    ):
        write_lines(root / name, session(mission))
    assert len(search_traces(list_traces(root), words)) == n_found
