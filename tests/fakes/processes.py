"""Looks for processes that should be gone, or that a test wants to kill."""

from __future__ import annotations

import os
from pathlib import Path


def pids_of(words: str, cwd: Path | None = None) -> list[int]:
    """Return the processes whose command line holds the words, and that work in that folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            is_other = int(path.parent.name) != os.getpid()
            is_there = cwd is None or (path.parent / "cwd").resolve() == cwd.resolve()
            if is_other and is_there and words.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
