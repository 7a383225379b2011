"""Finds the repositories that lie within a work tree: each has hooks and settings of its own.

Must not follow links, nor look for longer than a command may wait.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FOLDERS_LIMIT: Final = 10_000
"""Looked through in about 0.1 s."""

REST_SHARE: Final = 50
"""A look that took 2 ms is repeated after 0.1 s at the earliest: 2 % of the time."""

NOT_ENTERED: Final = frozenset({".git", ".trace"})


class NestedRepositories:
    """Those of some folders, looked for again from time to time, since a command may bring one.

    Args:
        root: The work tree; its own `.git` is none of them.
        others: Further folders; theirs are.
    """

    def __init__(self, root: Path, others: tuple[Path, ...] = ()) -> None:
        self._root = str(root)
        self._tops = (self._root, *map(str, others))
        self._found: tuple[str, ...] = ()
        self._next_s = 0.0
        self._is_complete = True

    @property
    def is_complete(self) -> bool:
        """Whether the last look saw every folder."""
        return self._is_complete

    def look(self) -> None:
        """Look for them again, if the last look was not just now."""
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._found = tuple(sorted(self._look()))
            self._next_s = now_s + REST_SHARE * (time.monotonic() - now_s)

    def git_entries(self) -> tuple[str, ...]:
        """Return the path of each `.git`, a folder or a file, that the last look found and is still there."""
        return tuple(path for path in self._found if os.path.lexists(path))

    def folders_above(self, git: str) -> Iterator[str]:
        """Yield the folders by which one is reached, outermost first, without the top one."""
        top = max((top for top in self._tops if git.startswith(f"{top}/")), key=len)
        parts = git[len(top) + 1 :].split("/")[:-1]
        yield from (os.path.join(top, *parts[: n + 1]) for n in range(len(parts)))

    def _look(self) -> Iterator[str]:
        waiting, n_folders = list(self._tops), 0
        while waiting and n_folders < FOLDERS_LIMIT:
            folder = waiting.pop()
            n_folders += 1
            for entry in _entries(folder):
                if entry.name == ".git" and folder != self._root and not entry.is_symlink():
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False) and entry.name not in NOT_ENTERED:
                    waiting.append(entry.path)
        self._is_complete = not waiting


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


__all__ = ["NestedRepositories"]
