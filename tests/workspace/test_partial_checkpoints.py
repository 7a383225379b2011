from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.workspace.going_back_kit import ENVIRON, Saver, git, git_tree, plain_tree
from tori_tui.workspace.checkpoints import Checkpoints, TreeLimits
from tori_tui.workspace.tree_changes import changes_between

LIMIT_FILES = 30
LIMIT_BYTES = 50_000


def with_many_files(root: Path) -> None:
    for number in range(LIMIT_FILES + 1):
        (root / f"many-{number}").write_text("x")


def with_many_bytes(root: Path) -> None:
    for number in range(3):
        (root / f"large-{number}").write_bytes(bytes(LIMIT_BYTES // 2))


def opened(root: Path, state: Path, environ: Mapping[str, str] = ENVIRON) -> Saver:
    saver = Saver(root, state)
    limited = Checkpoints.open(root, state, environ, TreeLimits(LIMIT_FILES, LIMIT_BYTES))
    assert limited is not None
    saver.checkpoints = limited
    return saver


@pytest.mark.parametrize("fill", [with_many_files, with_many_bytes], ids=["files", "bytes"])
def test_above_a_limit_only_dirty_and_touched_files_are_saved(fill: object, tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    assert callable(fill)
    fill(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all", "--no-verify")
    (root / "a.txt").write_text("dirty\n")
    saver = opened(root, tmp_path / "state")
    assert saver.save("user", ("run.sh",)).is_partial
    (root / "a.txt").write_text("agent\n")
    (root / "run.sh").write_text("agent\n")
    (root / "untouched.txt").write_text("by a command\n")
    saver.save("agent", ("run.sh",))
    shadow = saver.checkpoints.shadow
    (changed,) = changes_between(shadow, [(saver.chain[0].tree, saver.chain[1].tree)])
    assert {"a.txt", "run.sh"} <= set(changed)
    saver.go_back(0)
    assert (root / "a.txt").read_text() == "dirty\n"
    assert (root / "run.sh").read_text() == "#!/bin/sh\n"
    # Nobody can tell whether it was there before: it stays.
    assert (root / "untouched.txt").exists()


def test_under_the_limits_everything_is_saved(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    assert not opened(root, tmp_path / "state").save().is_partial


def test_a_tree_that_grows_past_a_limit_is_saved_in_part_from_then_on(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = opened(root, tmp_path / "state")
    assert not saver.save("user").is_partial
    with_many_files(root)
    assert saver.save().is_partial
    (root / "a.txt").write_text("agent\n")
    saver.save("agent", ("a.txt",))
    saver.go_back(0)
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (root / "many-0").exists()
    # Another session in the same tree knows it, too.
    assert Saver(root, tmp_path / "state").save().is_partial


def test_home_is_saved_in_part_whatever_its_size(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    link = tmp_path / "home"
    link.symlink_to(root)
    assert opened(root, tmp_path / "state", {**ENVIRON, "HOME": str(link)}).save().is_partial


def test_the_root_of_the_file_system_is_saved_in_part(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("before\n")
    saver = opened(Path(os.sep), tmp_path / "state")
    path = str(mine).removeprefix(os.sep)
    assert saver.save("user", (path,)).is_partial
    mine.write_text("after\n")
    saver.save("agent", (path,))
    saver.go_back(0)
    assert mine.read_text() == "before\n"
