from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tori_tui.domain.ids import TraceId
from tori_tui.workspace.lease import Holder, Lease

REPOSITORY = Path(__file__).parents[2]

HOLD = """
import sys
from pathlib import Path
from tori_tui.workspace.lease import Lease
lease = Lease.take(Path(sys.argv[1]), "t-other", Path(sys.argv[2]))
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_the_first_session_in_a_tree_has_it_for_itself(tmp_path: Path, state_dir: Path) -> None:
    lease = Lease.take(tmp_path, TraceId("t1"), state_dir)
    assert lease.holder is None
    lease.release()
    lease.release()
    assert lease.holder is None


def test_a_second_session_is_told_until_the_first_ends(tmp_path: Path, state_dir: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path), str(state_dir)]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "taken\n"
        lease = Lease.take(tmp_path, TraceId("t1"), state_dir)
        assert lease.holder == Holder(TraceId("t-other"), other.pid)
        assert str(lease.holder) == f"t-other (process {other.pid})"
        other.kill()
    assert lease.holder is None
    third = Lease.take(tmp_path, TraceId("t3"), state_dir)
    assert third.holder is not None
    assert third.holder.trace_id == "t1"
    third.release()
    lease.release()


def test_two_ways_to_one_tree_are_one_lease(tmp_path: Path, state_dir: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    first = Lease.take(tmp_path / "tree", TraceId("t1"), state_dir)
    second = Lease.take(tmp_path / "link", TraceId("t2"), state_dir)
    other = Lease.take(tmp_path, TraceId("t3"), state_dir)
    assert (first.holder, other.holder) == (None, None)
    assert second.holder is not None
    for lease in (first, second, other):
        lease.release()


def test_without_a_folder_for_leases_nobody_is_kept_out(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    lease = Lease.take(tmp_path, TraceId("t1"), tmp_path / "state")
    assert lease.holder is None
    lease.release()
