from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trace.records import message, messages, read, record, session, write_lines
from tori_tui.domain.events import Record
from tori_tui.domain.state import SessionState, reduce
from tori_tui.trace.codec import encode
from tori_tui.trace.errors import TraceDiskFull, TraceError, TraceLocked, TraceMissing, TraceTooNew
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore, is_being_written

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".trace" / "t1"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_appended_is_there_after_opening_again(trace: Path) -> None:
    with JsonlTraceStore.open(trace) as store:
        for each in messages(3):
            store.append(each)
    with JsonlTraceStore.open(trace) as store:
        assert list(store.records()) == messages(3)
        assert store.faults == ()


def test_records_are_those_that_were_there_at_opening(trace: Path) -> None:
    write_lines(trace, messages(2))
    with JsonlTraceStore.open(trace) as store:
        store.append(messages(3)[2])
        assert list(store.records()) == messages(2)
    assert read(trace) == messages(3)


def test_the_folder_is_closed_to_others_and_ignored_by_git(trace: Path) -> None:
    with JsonlTraceStore.open(trace) as store:
        store.append(messages(1)[0])
    assert (trace.parent / ".gitignore").read_text() == "*\n"
    assert (mode_of(trace.parent), mode_of(trace)) == (0o700, 0o700)
    files = [path for path in trace.parent.rglob("*") if path.is_file()]
    assert {mode_of(path) for path in files} == {0o600}


def test_a_branch_has_no_ignore_file_of_its_own(trace: Path) -> None:
    JsonlTraceStore.open(trace).close()
    JsonlTraceStore.open(trace / "branches" / "b1").close()
    assert [path.parent for path in trace.parent.rglob(".gitignore")] == [trace.parent]


def test_earlier_bytes_are_a_prefix_of_later_ones(trace: Path) -> None:
    seen = b""
    for first_seq in (1, 4, 7):
        with JsonlTraceStore.open(trace) as store:
            for each in messages(3, first_seq):
                store.append(each)
                now = (trace / MESSAGES_NAME).read_bytes()
                assert now.startswith(seen)
                assert len(now) > len(seen)
                seen = now


def test_loading_equals_reducing_one_record_after_the_other(trace: Path) -> None:
    write_lines(trace, session())
    state = SessionState()
    for each in session():
        state = reduce(state, each)
    with JsonlTraceStore.open(trace, read_only=True) as store:
        assert store.load() == state


# ── torn, padded and broken lines ────────────────────────────────────────────────────────

LINE_4 = encode(record(message("the fourth"), 4))
LINE_5 = encode(record(message("the fifth"), 5))


@pytest.mark.parametrize("cut", range(1, len(LINE_4) - 1))
def test_a_torn_last_line_is_cut_off_and_told(tmp_path: Path, cut: int) -> None:
    path = write_lines(tmp_path / "t1", messages(3), LINE_4[:cut])
    with JsonlTraceStore.open(tmp_path / "t1") as store:
        assert list(store.records()) == messages(3)
        (fault,) = store.faults
        assert fault.line == 4
        assert str(cut) in fault.reason
        store.append(record(message("the fourth"), 4))
    assert path.read_bytes().endswith(LINE_4)
    assert len(read(tmp_path / "t1")) == 4


def test_a_line_torn_inside_a_character_is_cut_off(trace: Path) -> None:
    write_lines(trace, messages(3), b'{"v":1,"role":"user","content":"\xe4\xb8')
    with JsonlTraceStore.open(trace) as store:
        store.append(record(message("the fourth"), 4))
    assert len(read(trace)) == 4


@pytest.mark.parametrize("padding", [1, 4096, 200_000])
def test_padding_at_the_end_is_cut_off(trace: Path, padding: int) -> None:
    path = write_lines(trace, messages(3), b"\0" * padding)
    with JsonlTraceStore.open(trace) as store:
        assert list(store.records()) == messages(3)
        assert [fault.line for fault in store.faults] == [4]
    assert b"\0" not in path.read_bytes()


def test_a_whole_last_line_without_its_newline_is_kept(trace: Path) -> None:
    path = write_lines(trace, messages(3), LINE_4[:-1] + b"\0" * 50)
    with JsonlTraceStore.open(trace) as store:
        assert len(list(store.records())) == 4
        store.append(record(message("the fifth"), 5))
    assert path.read_bytes().endswith(LINE_4 + LINE_5)


@pytest.mark.parametrize("tail", [LINE_4[:60], LINE_4[:-1], b"\0" * 100, b"rubbish"])
def test_reading_changes_nothing(trace: Path, tail: bytes) -> None:
    path = write_lines(trace, messages(3), tail)
    before = path.read_bytes()
    with JsonlTraceStore.open(trace, read_only=True) as store:
        assert list(store.records())[:3] == messages(3)
        assert store.is_read_only
        with pytest.raises(TraceError, match="reading only"):
            store.append(messages(1)[0])
    assert path.read_bytes() == before
    assert [path.name for path in trace.iterdir()] == [MESSAGES_NAME]


@pytest.mark.parametrize(
    ("line", "n_saved"),
    [
        (LINE_4[:70] + LINE_5, 1),
        (LINE_4[:70] + LINE_5[:-1], 1),
        (LINE_4[:-1] + LINE_5, 2),
        (b"\0" * 10 + LINE_4, 1),
        (LINE_4.replace(b"fourth", b"four\x80h"), 1),
        (b"rubbish\n", 0),
        (b'{"type":"assistant","content":"ab{"type":"user","content":"hi"}\n', 0),
        (encode(messages(1)[0])[:-1] + b" \x80 \n", 0),
    ],
)
def test_what_is_whole_in_a_broken_line_is_saved_and_told(trace: Path, line: bytes, n_saved: int) -> None:
    later = encode(record(message("later"), 6)) if line.endswith(b"\n") else b""
    write_lines(trace, messages(3), line + later)
    for _ in range(2):
        with JsonlTraceStore.open(trace) as store:
            records = list(store.records())
            assert len(records) == 3 + n_saved + bool(later)
            assert [each.seq for each in records] == sorted({each.seq for each in records})
            assert [fault.line for fault in store.faults] == [4]


def test_an_unknown_kind_is_counted_and_later_lines_are_kept(trace: Path) -> None:
    unknown = b'{"v":1,"seq":4,"ts":"2026-01-01T00:00:00.000Z","kind":"painting"}\n'
    write_lines(trace, messages(3), unknown + LINE_5)
    with JsonlTraceStore.open(trace) as store:
        assert len(list(store.records())) == 4
        assert (store.n_unknown, store.faults) == (1, ())


@pytest.mark.parametrize("at_end", [True, False])
def test_a_newer_trace_is_refused_untouched(trace: Path, at_end: bool) -> None:
    newer = LINE_4.replace(b'"v":1', b'"v":2')
    path = write_lines(trace, messages(3) if at_end else [], newer + b"torn")
    before = path.read_bytes()
    if at_end:
        before = before.removesuffix(b"torn")
        path.write_bytes(before)
    with pytest.raises(TraceTooNew):
        JsonlTraceStore.open(trace)
    assert path.read_bytes() == before
    assert not is_being_written(trace)


rubbish = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"\x80", b"\0", b"\n", b"\0\n", LINE_4[:40], LINE_4[50:], b'{"v":1,', b"\xff" * 9]),
)


@settings(deadline=None)
@given(pieces=st.lists(rubbish | st.none(), max_size=12))
def test_rubbish_between_the_lines_loses_no_good_line(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes | None]
) -> None:
    directory = tmp_path_factory.mktemp("trace")
    content = b""
    good: list[Record] = []
    for piece in pieces:
        if piece is not None:
            content += piece + b"\n" * (not piece.endswith(b"\n"))
            continue
        good.append(record(message(f"word {len(good)}"), len(good) + 10))
        content += encode(good[-1])
    (directory / MESSAGES_NAME).write_bytes(content)
    with JsonlTraceStore.open(directory) as store:
        records = list(store.records())
    assert [each for each in records if each in good] == good
    with JsonlTraceStore.open(directory) as store:
        assert list(store.records()) == records
    shutil.rmtree(directory)


# ── one writer ───────────────────────────────────────────────────────────────────────────

HOLD = """
import sys
from pathlib import Path
from tori_tui.trace.store import JsonlTraceStore
store = JsonlTraceStore.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_second_writer_is_told_who_writes_and_may_read(trace: Path) -> None:
    write_lines(trace, messages(2))
    with start(HOLD, str(trace)) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(TraceLocked, match=rf"process {other.pid}\.\n.*read-only"):
            JsonlTraceStore.open(trace)
        assert is_being_written(trace)
        assert read(trace) == messages(2)
        other.kill()
    assert not is_being_written(trace)
    JsonlTraceStore.open(trace).close()


def test_what_is_not_there_cannot_be_read(trace: Path) -> None:
    with pytest.raises(TraceMissing, match="There is no trace"):
        JsonlTraceStore.open(trace, read_only=True)
    assert not trace.exists()


def test_a_file_in_the_place_of_the_folder_is_an_error_to_read(tmp_path: Path) -> None:
    (tmp_path / ".trace").write_text("mine")
    with pytest.raises(TraceError, match="cannot be used"):
        JsonlTraceStore.open(tmp_path / ".trace" / "t1")


# ── kills and full disks ─────────────────────────────────────────────────────────────────

WRITE = """
import asyncio, sys
from pathlib import Path
from tests.trace.records import message, record
from tori_tui.trace.store import JsonlTraceStore

async def main():
    store = JsonlTraceStore.open(Path(sys.argv[1]))
    seq = store.load().next_seq
    while True:
        store.append(record(message("x" * (seq * 37 % 9000)), seq))
        await store.sync()
        print(seq, flush=True)
        seq += 1

asyncio.run(main())
"""


def test_a_killed_writer_loses_no_record_that_it_acknowledged(trace: Path) -> None:
    acknowledged, before = 0, b""
    for round_number in range(6):
        with start(WRITE, str(trace)) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                acknowledged = int(line)
                if acknowledged % (7 + round_number) == 0:
                    os.kill(writer.pid, signal.SIGKILL)
                    break
            for line in writer.stdout:
                acknowledged = int(line)
        now = (trace / MESSAGES_NAME).read_bytes()
        assert now.startswith(before)
        seqs = [each.seq for each in read(trace)]
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) >= acknowledged > 0
        JsonlTraceStore.open(trace).close()
        before = (trace / MESSAGES_NAME).read_bytes()


FILL = """
import resource, sys
from pathlib import Path
from tests.trace.records import message, record
from tori_tui.trace.errors import TraceDiskFull
from tori_tui.trace.store import JsonlTraceStore

limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
store = JsonlTraceStore.open(Path(sys.argv[1]))
for seq in range(1, 100):
    try:
        store.append(record(message("x" * 300), seq))
    except TraceDiskFull as error:
        assert (Path(sys.argv[1]) / "messages.jsonl").read_bytes().endswith(b"\\n")
        print(seq, error.message, flush=True)
        break
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append(record(message("x" * 300), seq))
"""


def test_a_record_that_finds_no_room_leaves_nothing_and_can_be_repeated(trace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(trace), "4000"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    seq, _, reason = done.stdout.partition(" ")
    assert 5 < int(seq) < 15
    assert "No room for the trace" in reason
    with JsonlTraceStore.open(trace, read_only=True) as store:
        assert [each.seq for each in store.records()] == list(range(1, int(seq) + 1))
        assert store.faults == ()


def fill(store: JsonlTraceStore) -> int:
    for seq in range(1, 1_000):
        try:
            store.append(record(message("x" * 900), seq))
        except TraceDiskFull:
            return seq
    raise AssertionError("the disk is never full")


@pytest.mark.needs("mount")
def test_a_full_file_system_pauses_the_trace_until_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("kernel: mounting is not allowed here")
    try:
        with JsonlTraceStore.open(disk / ".trace" / "t1") as store:
            (disk / "ballast").write_bytes(b"x" * 30_000)
            seq = fill(store)
            with pytest.raises(TraceDiskFull, match="No room"):
                store.append(record(message("x" * 900), seq))
            (disk / "ballast").unlink()
            store.append(record(message("x" * 900), seq))
        assert [each.seq for each in read(disk / ".trace" / "t1")] == list(range(1, seq + 1))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ── sync ─────────────────────────────────────────────────────────────────────────────────


async def test_many_who_wait_share_an_fsync(trace: Path) -> None:
    with JsonlTraceStore.open(trace) as store:
        await store.sync()
        store.append(messages(1)[0])
        await asyncio.gather(*(store.sync() for _ in range(20)))
        assert store.n_syncs <= 2
        before = store.n_syncs
        await store.sync()
        assert store.n_syncs == before


async def test_what_is_appended_during_an_fsync_gets_its_own(trace: Path) -> None:
    with JsonlTraceStore.open(trace) as store:
        store.append(messages(1)[0])
        first = asyncio.create_task(store.sync())
        await asyncio.sleep(0)
        store.append(messages(2)[1])
        await store.sync()
        await first
        assert store.n_syncs == 2


async def test_closing_twice_does_nothing(trace: Path) -> None:
    store = JsonlTraceStore.open(trace)
    store.append(messages(1)[0])
    await store.sync()
    store.close()
    store.close()
