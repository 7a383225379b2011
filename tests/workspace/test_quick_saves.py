from __future__ import annotations

import os
import random
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workspace.going_back_kit import ENVIRON, OWNER, git, git_tree, plain_tree
from tori_tui.workspace.checkpoints import Checkpoints, SavedTree
from tori_tui.workspace.file_modes import read_modes
from tori_tui.workspace.glance import RACY_NS, Glance, glance
from tori_tui.workspace.shadow_git import paths_of

N_STEPS = 60
NAMES = ("a.txt", "run.sh", "sub/x", "sub/deep/y", "new/z", "build/out.o", "sub/w.o", "empty/e", "gone.txt")


class Both:
    """One tree, saved by quick looks and, in a directory of its own, always whole."""

    def __init__(self, root: Path, state: Path) -> None:
        quick = Checkpoints.open(root, state / "quick", ENVIRON)
        whole = Checkpoints.open(root, state / "whole", ENVIRON)
        assert quick is not None
        assert whole is not None
        self.quick, self.whole = quick, whole
        self.seen: Glance | None = None
        self.touched: set[str] = set()

    def save(self) -> tuple[SavedTree, SavedTree]:
        now = glance(self.quick.shadow.root)
        touched = tuple(sorted(self.touched))
        quick = self.quick.save_since(self.seen, now, OWNER, touched)
        self.seen = now
        return quick, self.whole.save(OWNER, touched)


def change(root: Path, dice: random.Random, both: Both) -> None:
    """Do one thing of those that tools and commands do."""
    path = root / dice.choice(NAMES)
    match dice.randrange(8):
        case 0 | 1 | 2:
            path.parent.mkdir(exist_ok=True)
            if not path.is_symlink():
                path.write_text(f"{dice.random()}\n")
            if dice.random() < 0.5:
                both.touched.add(str(path.relative_to(root)))
        case 3:
            path.unlink(missing_ok=True)
        case 4 if path.is_file() and not path.is_symlink():
            path.chmod(dice.choice([0o644, 0o755, 0o600, 0o640]))
        case 5 if path.exists():
            path.unlink()
            path.symlink_to(dice.choice(["a.txt", "nowhere"]))
        case 6:
            (root / ".gitignore").write_text(dice.choice(["*.o\nbuild/\n", "", "new/\n"]))
        case 7:
            (root / dice.choice(["empty", "bare"])).mkdir(exist_ok=True)
        case _:
            pass


@pytest.mark.parametrize("make", [plain_tree, git_tree], ids=["plain", "git"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_quick_saves_come_to_the_same_as_whole_ones(
    make: Callable[[Path], Path], seed: int, tmp_path: Path
) -> None:
    root = make(tmp_path / "tree")
    (root / "gone.txt").write_text("back\n")
    both, dice = Both(root, tmp_path / "state"), random.Random(seed)
    shadow = both.quick.shadow

    def unusual_modes(root: Path, saved: SavedTree) -> dict[str, int]:
        names = paths_of(shadow.run("ls-tree", "-r", "-z", "--name-only", saved.tree))
        modes = {name: (root / name).lstat().st_mode for name in names}
        usual = {0o644 | stat.S_IFREG, 0o755 | stat.S_IFREG}
        return {n: stat.S_IMODE(m) for n, m in modes.items() if stat.S_ISREG(m) and m not in usual}

    for _ in range(N_STEPS):
        for _ in range(dice.choice([1, 1, 2])):
            change(root, dice, both)
        quick, whole = both.save()
        # Of permissions git itself sees no change within a second.
        assert replace(quick, modes="") == replace(whole, modes="")
        assert read_modes(shadow, [quick.modes])[quick.modes] == unusual_modes(root, quick)
    assert shadow.run("fsck", "--full", "--strict", "--no-dangling") == b""


def test_a_known_file_is_saved_without_a_git_process(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    time.sleep(RACY_NS / 1e9)
    both = Both(root, tmp_path / "state")
    both.save()
    (root / "a.txt").write_text("one")
    both.save()
    # From here on no program of that name could be started.
    both.quick.shadow.git = "/nonexistent/git"
    (root / "a.txt").write_text("two")
    (root / "made.txt").write_text("by a tool")
    (root / "gone.txt").unlink()
    both.touched = {"made.txt"}
    quick, whole = both.save()
    assert quick == whole


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    path = root / "a.txt"
    both = Both(root, tmp_path / "state")
    both.save()
    path.write_text("one")
    one, _ = both.save()
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("two")
    os.utime(path, ns=times)
    two, whole = both.save()
    assert one.tree != two.tree == whole.tree


def test_another_index_of_the_user_is_looked_at(tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    both = Both(root, tmp_path / "state")
    both.save()
    git(root, "add", "-f", "build/out.o")
    quick, whole = both.save()
    assert quick == whole
    assert both.quick.shadow.has(f"{quick.tree}:build/out.o")
