"""The files of a work tree by which git and tori decide what to run: read-only to confined commands.

Must not touch anything else of the tree.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class ControlFiles:
    """Those of one work tree."""

    root: Path

    @property
    def git(self) -> Path:
        """The `.git` of the root, there or not."""
        return self.root / ".git"

    def prepare(self) -> None:
        """Make the folder of hooks, where git has none yet: what is missing cannot be made read-only."""
        if self.git.is_dir() and not self.git.is_symlink():
            with suppress(OSError):
                (self.git / "hooks").mkdir(exist_ok=True)

    def read_only(self) -> tuple[Path, ...]:
        """Return those that are there, `.git` aside."""
        paths = [self.root / name for name in READ_ONLY_IN_ROOT]
        if self.git.is_dir():
            paths += [self.git / name for name in READ_ONLY_IN_GIT]
        return tuple(path for path in paths if os.path.lexists(path))

    def missing_redirects(self) -> tuple[Path, ...]:
        """Return those that are not there and must not come."""
        if not self.git.is_dir():
            return ()
        return tuple(path for name in REDIRECTS if not os.path.lexists(path := self.git / name))


__all__ = ["ControlFiles"]
