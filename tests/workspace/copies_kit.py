"""A work tree under git, its checkpoints and copies of it, in a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tori_tui.workspace.adopt import Adoption, carry_out, plan_adoption
from tori_tui.workspace.checkpoints import Checkpoints, SavedTree
from tori_tui.workspace.copies import COPIES_NAME, Copies, TreeCopy, whole_tree

ENVIRON = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=root,
        env=ENVIRON,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything below a folder: mode, and content or the link's target."""
    found: dict[str, tuple[int, bytes]] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            is_file = path.is_file() and not path.is_symlink()
            data = os.fsencode(os.readlink(path)) if path.is_symlink() else b""
            found[path.relative_to(folder).as_posix()] = (
                path.lstat().st_mode,
                path.read_bytes() if is_file else data,
            )
    return found


@dataclass
class Tree:
    """The work tree of the one who explores."""

    root: Path
    state: Path
    checkpoints: Checkpoints
    copies: Copies
    saved: SavedTree

    def copy(self, name: str = "1") -> TreeCopy:
        return self.copies.make(name, self.saved.tree, self.saved.empty_folders)

    def plan(self, copy: TreeCopy) -> Adoption:
        present = self.checkpoints.save("trace").tree
        return plan_adoption(self.checkpoints.shadow, copy.base, copy.patch().data, present)

    def adopt(self, copy: TreeCopy) -> Adoption:
        adoption = self.plan(copy)
        if adoption.steps:
            carry_out(self.checkpoints.shadow, "trace", adoption.steps)
        return adoption

    def files(self) -> dict[str, tuple[int, bytes]]:
        return {path: facts for path, facts in snapshot(self.root).items() if not path.startswith(".git")}


@contextmanager
def tree_of(
    folder: Path, files: dict[str, bytes], *, is_repository: bool = True, links: tuple[str, ...] = ()
) -> Iterator[Tree]:
    root = folder / "work"
    root.mkdir(parents=True)
    write(root, files)
    if is_repository:
        git(root, "init", "-q", "-b", "main")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "first")
    state = folder / "state"
    checkpoints = Checkpoints.open(root, state, ENVIRON)
    assert checkpoints is not None
    saved = whole_tree(checkpoints, "trace")
    copies = Copies(state / COPIES_NAME / "call", checkpoints.shadow, links)
    copies.open()
    try:
        yield Tree(root, state, checkpoints, copies, saved)
    finally:
        copies.close()


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
