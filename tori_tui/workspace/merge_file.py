"""Two changed contents of one file put together, byte for byte, or the places where they clash.

Must not know which file it is, nor write anything that stays.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tori_tui.workspace.shadow_git import ShadowGit

MARKER_SIZE: Final = 31
"""Longer than any line of the same characters that files hold by themselves."""

HUNK_LIMIT_LINES: Final = 24
"""Of each side of a hunk in a report."""

ERROR_EXIT: Final = 128
"""From there on git's exit code is no number of conflicts (binary files: 255)."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place that both sides changed."""

    line: int
    """In the present content, from 1."""
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What became of it; `content` is None where they clash, without hunks where it is no text."""

    content: bytes | None
    hunks: tuple[Hunk, ...] = ()


def merge_file(shadow: ShadowGit, ours: bytes, base: bytes, theirs: bytes) -> Merge:
    """Put together what two sides made of a content."""
    with tempfile.TemporaryDirectory(dir=shadow.directory, prefix="merge-") as folder:
        names = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, data in zip(names, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        command = ("merge-file", "-p", "--quiet", f"--marker-size={MARKER_SIZE}", "--diff3")
        process = shadow.start(*command, *map(str, names))
        output, _ = process.communicate()
    if process.returncode == 0:
        return Merge(output)
    if process.returncode >= ERROR_EXIT:
        return Merge(None)
    return Merge(None, tuple(_hunks(output.splitlines(keepends=True), ours.splitlines(keepends=True))))


def _hunks(merged: Sequence[bytes], ours: Sequence[bytes]) -> Iterator[Hunk]:
    """Yield the clashes of a merge with markers, and where each stands in the present content."""
    marks = [at for at, line in enumerate(merged) if _mark_of(line)]
    parts: dict[bytes, list[bytes]] = {}
    searched_from = 0
    for start, end in pairwise([*marks, len(merged)]):
        mark = _mark_of(merged[start])
        if mark == b"<":
            parts = {}
        parts[mark] = list(merged[start + 1 : end])
        if mark == b"=":
            mine = parts.get(b"<", [])
            at = _found(ours, mine, searched_from) if mine else searched_from
            yield Hunk(at + 1, _text(mine), _text(parts[b"="]))
            searched_from = at + len(mine)


def _mark_of(line: bytes) -> bytes:
    first = line[:1]
    return first if first in b"<|=>" and line[:MARKER_SIZE] == first * MARKER_SIZE and first else b""


def _found(lines: Sequence[bytes], wanted: Sequence[bytes], start: int) -> int:
    last = len(lines) - len(wanted)
    places = (at for at in range(start, last + 1) if list(lines[at : at + len(wanted)]) == list(wanted))
    return next(places, start)


def _text(lines: Sequence[bytes]) -> str:
    shown = b"".join(lines[:HUNK_LIMIT_LINES]).decode("utf-8", "replace")
    more = len(lines) - HUNK_LIMIT_LINES
    return f"{shown}[… {more} more lines]\n" if more > 0 else shown


__all__ = ["Hunk", "Merge", "merge_file"]
