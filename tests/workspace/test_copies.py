from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.workspace.copies_kit import ENVIRON, git, snapshot, tree_of, write
from tori_tui.workspace.copied_repository import copy_repository
from tori_tui.workspace.copies import COPIES_NAME, sweep_copies


def test_a_copy_holds_uncommitted_and_untracked_work_and_nothing_that_is_ignored(tmp_path: Path) -> None:
    files = {"a.txt": b"a\r\n", ".gitignore": b"ignored\n", "ignored": b"secret"}
    with tree_of(tmp_path, files) as tree:
        write(tree.root, {"a.txt": b"edited\r\n", "new/b": b"b", "big": b"\0" * (6 << 20)})
        (tree.root / "new/b").chmod(0o755)
        tree.saved = tree.checkpoints.save("trace", ("big",))
        copy = tree.copy()
        found = {path: data for path, (_, data) in snapshot(copy.root).items() if "/" not in path}
        assert (found["a.txt"], found["big"]) == (b"edited\r\n", b"\0" * (6 << 20))
        assert "ignored" not in found
        assert os.access(copy.root / "new/b", os.X_OK)
        assert copy.root.name == tree.root.name


def test_git_works_in_a_copy_and_nothing_of_it_reaches_the_users_repository(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a.txt": b"a\n"}) as tree:
        git(tree.root, "remote", "add", "origin", str(tree.root))
        git(tree.root, "config", "core.worktree", str(tree.root))
        write(tree.root, {"a.txt": b"edited\n"})
        tree.saved = tree.checkpoints.save("trace")
        before = snapshot(tree.root / ".git")
        copy = tree.copy()
        assert git(copy.root, "log", "--format=%s") == "first\n"
        assert git(copy.root, "status", "--short") == " M a.txt\n"
        git(copy.root, "commit", "-q", "-a", "-m", "second")
        git(copy.root, "checkout", "-q", "-b", "other")
        assert git(copy.root, "remote") == ""
        assert git(copy.root, "rev-parse", "--show-toplevel").strip() == str(copy.root)
        assert snapshot(tree.root / ".git") == before
        assert copy.patch().data == b""


def test_a_linked_work_tree_is_copied_too(tmp_path: Path) -> None:
    with tree_of(tmp_path / "one", {"a": b"a\n"}) as tree:
        linked = tmp_path / "linked"
        git(tree.root, "worktree", "add", "-q", str(linked), "-b", "side")
        write(linked, {"side": b"s\n"})
        git(linked, "add", "side")
        git(linked, "commit", "-q", "-m", "on the side")
        copy_root = tmp_path / "copy"
        copy_root.mkdir()
        assert copy_repository(linked, copy_root, "git", ENVIRON)
        assert git(copy_root, "log", "--format=%s").splitlines()[0] == "on the side"


def test_a_tree_without_a_repository_is_copied_without_one(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": b"a\n"}, is_repository=False) as tree:
        copy = tree.copy()
        assert os.listdir(copy.root) == ["a"]
        write(copy.root, {"a": b"A\n", "b": b"b\n"})
        patch = copy.patch()
        assert (patch.paths, patch.added, patch.removed) == (("a", "b"), 2, 1)


def test_heavy_folders_are_linked_and_are_no_part_of_the_change(tmp_path: Path) -> None:
    with tree_of(
        tmp_path, {"a": b"a\n", ".gitignore": b"node_modules/\n"}, links=("node_modules", "none")
    ) as tree:
        write(tree.root, {"node_modules/pkg/index.js": b"x"})
        copy = tree.copy()
        assert (copy.root / "node_modules/pkg/index.js").read_bytes() == b"x"
        assert git(copy.root, "status", "--short") == ""
        assert copy.patch().data == b""
        assert copy.size_bytes() < 1 << 20
        copy.remove()
        assert (tree.root / "node_modules/pkg/index.js").read_bytes() == b"x"


def test_nothing_is_left_even_of_write_protected_folders(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": b"a\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"deep/er/f": b"f"})
        (copy.root / "deep/er").chmod(0o500)
        (copy.root / "deep").chmod(0o500)
        tree.copies.close()
        assert not (tree.state / COPIES_NAME).exists()


def test_a_file_that_grows_too_large_is_named_and_never_taken_for_removed(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"grows": b"small\n", "a": b"a\n"}) as tree:
        copy = tree.copy()
        with (copy.root / "grows").open("wb") as file:
            file.truncate(300 << 20)
        write(copy.root, {"a": b"A\n"})
        patch = copy.patch()
        assert (patch.paths, patch.note) == (("a",), "not in its change: grows")
        write(copy.root, {"grows": b"small\n", "huge": os.urandom(65 << 20)})
        patch = copy.patch()
        assert patch.data == b""
        assert patch.note == "its change takes 65 MB and is not kept: a, huge"


def test_threads_of_one_session_hold_the_saved_trees_one_after_the_other(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": b"a\n"}) as tree:
        inside: list[int] = []

        def hold(number: int) -> int:
            with tree.checkpoints.shadow.locked():
                inside.append(number)
                time.sleep(0.002)
                return len(inside) - inside.index(number)

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(hold, range(40), timeout=20)) == [1] * 40


HOLDER = """
import sys, time
from pathlib import Path
from tests.workspace.copies_kit import tree_of
with tree_of(Path(sys.argv[1]), {"a": b"a"}) as tree:
    tree.copy()
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_only_copies_of_a_process_that_is_gone_are_swept(tmp_path: Path, is_killed: bool) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    if is_killed:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    n_swept = sweep_copies(tmp_path / "state")
    is_there = (tmp_path / "state" / COPIES_NAME / "call" / "1" / "work" / "a").exists()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert (n_swept, is_there) == ((1, False) if is_killed else (0, True))
