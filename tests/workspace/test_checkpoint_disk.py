from __future__ import annotations

import os
from pathlib import Path

from tests.workspace.going_back_kit import ENVIRON, OWNER, Saver, plain_tree
from tori_tui.workspace.checkpoint_disk import disk_use_bytes, make_room
from tori_tui.workspace.shadow_git import find_git

GIT = find_git(ENVIRON, Path("/nowhere"))
NOISE_BYTES = 400_000


def session(saver: Saver, owner: str, root: Path) -> str:
    (root / "noise").write_bytes(os.urandom(NOISE_BYTES))
    return saver.checkpoints.save(owner).tree


def test_the_oldest_sessions_make_room_and_the_present_one_stays(tmp_path: Path) -> None:
    assert GIT is not None
    root, state = plain_tree(tmp_path / "tree"), tmp_path / "state"
    saver = Saver(root, state)
    trees = {owner: session(saver, owner, root) for owner in ("old", "middle", OWNER)}
    whole = disk_use_bytes(state)
    assert make_room(state, GIT, ENVIRON, OWNER, cap_bytes=whole) == ()
    assert make_room(state, GIT, ENVIRON, OWNER, cap_bytes=whole - NOISE_BYTES // 2) == ("old",)
    assert disk_use_bytes(state) < whole - NOISE_BYTES // 2
    shadow = saver.checkpoints.shadow
    assert [shadow.has(trees[owner]) for owner in ("old", "middle", OWNER)] == [False, True, True]
    assert make_room(state, GIT, ENVIRON, OWNER, cap_bytes=0) == ("middle",)
    assert shadow.has(f"{trees[OWNER]}:noise")


def test_a_tree_whose_checkpoints_were_dropped_is_saved_again(tmp_path: Path) -> None:
    assert GIT is not None
    root, state = plain_tree(tmp_path / "tree"), tmp_path / "state"
    saver = Saver(root, state)
    tree = session(saver, "old", root)
    assert make_room(state, GIT, ENVIRON, OWNER, cap_bytes=0) == ("old",)
    assert not saver.checkpoints.shadow.has(tree)
    again = Saver(root, state)
    assert again.save().tree == tree
    assert again.checkpoints.shadow.has(f"{tree}:noise")
