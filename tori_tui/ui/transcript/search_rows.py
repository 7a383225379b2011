"""How the lines of a search's result are read: a file's name, and below it what was found there.

Must not know how they are drawn.
"""

from __future__ import annotations

import re
from typing import Final

SEARCHES: Final = ("grep_files", "glob_files")

HIT: Final = re.compile(r"(\d{1,7})([:-])")
"""How `grep_files` begins a line below its file's name: `:` where it matches, `-` around it."""


def is_path(line: str) -> bool:
    """Say whether a line is a file's name and no word of the tool's own."""
    return bool(line) and line != "--" and not line.startswith(("[", "No ")) and not line.endswith(":")


def link_span(line: str, tool: str) -> tuple[int, int]:
    """Return which part of a line leads to a file; an empty one where none does."""
    hit = HIT.match(line) if tool == "grep_files" else None
    if hit is not None:
        return (0, len(hit[1])) if hit[2] == ":" else (0, 0)
    return (0, len(line)) if is_path(line) else (0, 0)


__all__ = ["HIT", "SEARCHES", "is_path", "link_span"]
