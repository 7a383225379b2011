from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tori_tui.workspace.files import FileUnusable, atomic_write, digest, read_bytes, sha256_of

IS_ROOT = os.geteuid() == 0


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def run_limited(path: Path, size_bytes: int, limit_bytes: int) -> str:
    program = textwrap.dedent(f"""
        import resource
        from pathlib import Path
        from tori_tui.workspace.files import FileUnusable, atomic_write
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit_bytes}, {limit_bytes}))
        try:
            atomic_write(Path({str(path)!r}), b"n" * {size_bytes})
        except FileUnusable as error:
            print(error)
    """)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    atomic_write(path, b"hello")
    (tmp_path / "usual").touch()
    assert path.read_bytes() == b"hello"
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert names(path.parent) == ["c.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o644, 0o640])
def test_mode_bits_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(mode)
    atomic_write(path, b"new")
    assert path.stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(not IS_ROOT, reason="kernel: only root may give files away")
def test_the_owner_stays_where_the_system_lets_us(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 12_345, 54_321)
    path.chmod(0o4755)
    atomic_write(path, b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (12_345, 54_321, 0o4755)


def test_a_link_stays_a_link_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "f"
    target.write_bytes(b"old")
    (tmp_path / "one").symlink_to("real/f")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    atomic_write(tmp_path / "two", b"new")
    assert (tmp_path / "two").is_symlink()
    assert (tmp_path / "one").is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path / "real") == ["f"]


def test_other_names_of_a_hard_linked_file_keep_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    os.link(tmp_path / "a", tmp_path / "b")
    atomic_write(tmp_path / "a", b"new")
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("limit_bytes", [0, 4_096])
@pytest.mark.parametrize("way", ["plain", "link", "hard_link"])
def test_no_room_leaves_the_old_content_and_no_temporary_file(
    tmp_path: Path, limit_bytes: int, way: str
) -> None:
    real = tmp_path / "a.txt"
    real.write_bytes(b"old" * 1_000)
    path = tmp_path / "other"
    if way == "link":
        path.symlink_to(real)
    elif way == "hard_link":
        os.link(real, path)
    else:
        path = real
    before = names(tmp_path)
    told = run_limited(path, 2_000_000, limit_bytes)
    assert "could not be written" in told
    assert real.read_bytes() == b"old" * 1_000
    assert names(tmp_path) == before


def test_no_room_for_a_new_file_leaves_nothing(tmp_path: Path) -> None:
    run_limited(tmp_path / "new.txt", 100_000, 4_096)
    assert names(tmp_path) == []


def test_a_kill_in_the_middle_leaves_the_old_content_and_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"old")
    program = (
        "from pathlib import Path\nfrom tori_tui.workspace.files import atomic_write\nimport sys\n"
        f"data = b'n' * 150_000_000\nprint('go', flush=True)\natomic_write(Path({str(path)!r}), data)"
    )
    writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(0.03)
    writer.send_signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    writer.stdout.close()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["big"]


def test_a_pipe_is_refused_at_once_for_reading_and_writing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for action in (lambda p: atomic_write(p, b"x"), read_bytes, sha256_of):
        with pytest.raises(FileUnusable, match="a pipe"):
            action(tmp_path / "fifo")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileUnusable, match="a folder"):
        atomic_write(tmp_path, b"x")


def test_a_read_only_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(FileUnusable, match="read-only"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_path_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(FileUnusable):
        atomic_write(tmp_path / "f" / "g", b"x")
    with pytest.raises(FileUnusable):
        read_bytes(tmp_path / "f" / "g")


def test_hashes_are_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert sha256_of(tmp_path / "a") == digest(b"x")
    assert sha256_of(tmp_path / "none") is None


def test_many_descriptors_are_not_left_open(tmp_path: Path) -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(50):
        atomic_write(tmp_path / "a", bytes([number]))
        sha256_of(tmp_path / "a")
    assert len(os.listdir("/proc/self/fd")) == before < limit


def test_a_link_that_came_after_the_look_leads_neither_a_write_nor_a_read_outside(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    for folder in (tree / "sub", outside):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("old")
    seen = tree / "sub" / "a.txt"
    atomic_write(seen, b"new", is_real=True)
    assert read_bytes(seen, is_real=True) == b"new"
    (tree / "sub").rename(tree / "moved")
    (tree / "sub").symlink_to(outside)
    for path in (seen, tree / "sub" / "fresh.txt"):
        with pytest.raises(FileUnusable, match="leads to"):
            atomic_write(path, b"evil", is_real=True)
    with pytest.raises(FileUnusable, match="leads to"):
        read_bytes(seen, is_real=True)
    (tree / "sub").unlink()
    (tree / "sub").mkdir()
    seen.symlink_to(outside / "a.txt")
    with pytest.raises(FileUnusable, match="leads to"):
        read_bytes(seen, is_real=True)
    assert (names(outside), (outside / "a.txt").read_text()) == (["a.txt"], "old")
