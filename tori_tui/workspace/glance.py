"""A quick look at a small tree: whether any file's facts differ from an earlier look, and whose.

Must not read a file's content; what is not sure here is looked at whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

ENTRIES_LIMIT: Final = 2_000
"""A look at so many takes about 5 ms; git is faster above that."""

RACY_NS: Final = 10_000_000
"""File systems stamp by the kernel's tick, at most 10 ms: two changes within one can look the same."""

_LEFT_OUT: Final = frozenset({".git", ".trace"})

Facts = tuple[int, int, int, int, int]
"""Inode, mode, size, both times."""

Glance = Mapping[str, Facts]
"""The facts of everything in a tree, by path from its root."""


def glance(root: Path, now_ns: Callable[[], int] = time.time_ns) -> Glance | None:
    """Return the facts of a tree; None where it is too large or cannot be looked at.

    What changed only just now gets a time of its own, so that no later look takes it for the same.
    """
    found: dict[str, Facts] = {}
    folders = [""]
    looked_ns = now_ns()
    try:
        while folders:
            folder = folders.pop()
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name in _LEFT_OUT:
                        continue
                    path = f"{folder}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    status = entry.stat(follow_symlinks=False)
                    is_racy = status.st_ctime_ns > looked_ns - RACY_NS
                    changed_ns = -looked_ns if is_racy else status.st_ctime_ns
                    facts = (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, changed_ns)
                    found[path] = facts
            if len(found) > ENTRIES_LIMIT:
                return None
    except OSError:
        return None
    return found


def differing(before: Glance, now: Glance) -> set[str]:
    """Return the paths whose facts differ, or that stand in one look only."""
    return {path for path, _ in before.items() ^ now.items()}


__all__ = ["ENTRIES_LIMIT", "Glance", "differing", "glance"]
