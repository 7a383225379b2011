"""The files of a work tree by which git and tori decide what to run: read-only to confined commands.

Must not touch anything else of the tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

READ_ONLY_IN_GIT: Final = (
    "hooks",
    "config",
    "config.worktree",
    "modules",
    "worktrees",
    "info/attributes",
    "commondir",
)
"""Hooks and configuration run programs; those of submodules and further work trees too."""

READ_ONLY_IN_ROOT: Final = (".tori", ".trace")

REDIRECTS: Final = ("commondir", "config.worktree")
"""Files that lead git to another configuration. Where there is none, none may come."""


Facts = Mapping[str, tuple[int, int, int]]
"""Of files by their path: inode, size, and when they changed last."""


class ControlFiles:
    """Those of one work tree; looked at before each command, so by plain system calls.

    Attributes:
        git: The `.git` of the root, there or not.
    """

    def __init__(self, root: Path) -> None:
        self.git: Final = f"{root}/.git"
        self._in_root: Final = tuple(f"{root}/{name}" for name in READ_ONLY_IN_ROOT)
        self._in_git: Final = tuple(f"{self.git}/{name}" for name in READ_ONLY_IN_GIT)
        self._redirects: Final = tuple(f"{self.git}/{name}" for name in REDIRECTS)

    def prepare(self) -> None:
        """Make the folder of hooks, where git has none yet: what is missing cannot be made read-only."""
        if os.path.isdir(self.git) and not os.path.islink(self.git):
            with suppress(OSError):
                os.mkdir(f"{self.git}/hooks")

    def read_only(self) -> tuple[str, ...]:
        """Return those that are there, `.git` aside."""
        return tuple(path for path in (*self._in_root, *self._in_git) if os.path.lexists(path))

    def facts(self, nested: Sequence[str]) -> Facts:
        """Return what tells a change of any of them, and of those of repositories within.

        Args:
            nested: The path of each `.git` within.
        """
        folders = [self._in_root[0], *(f"{self._in_root[0]}/{name}" for name in ("agents", "commands"))]
        files = [*nested]
        for git in (self.git, *nested):
            folders.append(f"{git}/hooks")
            files += [f"{git}/{name}" for name in READ_ONLY_IN_GIT]
        for folder in folders:
            with suppress(OSError):
                files += [f"{folder}/{name}" for name in os.listdir(folder)]
        return dict(_facts(files))

    def missing_redirects(self) -> tuple[str, ...]:
        """Return those that are not there and must not come."""
        if not os.path.isdir(self.git):
            return ()
        return tuple(path for path in self._redirects if not os.path.lexists(path))


def _facts(files: Iterable[str]) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for path in files:
        with suppress(OSError):
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode):
                yield path, (status.st_ino, status.st_size, status.st_ctime_ns)


__all__ = ["ControlFiles", "Facts"]
