"""A unified diff as values: files, places, lines with their numbers, lines that answer each other.

Must not style anything, and must not fail on a text that is no diff: what belongs to none is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, Literal, NamedTuple

LineKind = Literal["same", "removed", "added", "note"]

EMPHASIS_LIMIT_CHARS: Final = 500
"""Of a line; in longer ones nobody looks for a changed word."""

LEAST_ALIKE: Final = 0.3
"""Of two lines, the share that must be equal before the rest is worth showing."""

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_WORD: Final = re.compile(r"[A-Za-z0-9_]+|\s+|.")


class DiffLine(NamedTuple):
    """A line of a place that changed."""

    kind: LineKind
    text: str
    old: int = 0
    """Its number in the old file; 0 where it has none."""
    new: int = 0


@dataclass(slots=True)
class Hunk:
    """A place that changed, with the lines around it."""

    heading: str = ""
    lines: list[DiffLine] = field(default_factory=list)


@dataclass(slots=True)
class FileDiff:
    """What changed in one file."""

    old_name: str = ""
    new_name: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is told instead of lines: that it is no text."""

    @property
    def name(self) -> str:
        """The file's name, and whether it is gone."""
        return f"{self.old_name} (gone)" if self.new_name == "/dev/null" else self.new_name or self.old_name

    @property
    def last_number(self) -> int:
        """The largest line number."""
        last = (hunk.lines[-1] for hunk in self.hunks if hunk.lines)
        return max((max(line.old, line.new) for line in last), default=0)


class Span(NamedTuple):
    """A part of a line."""

    start: int
    end: int


class Pair(NamedTuple):
    """Lines that stand beside each other; None is nothing."""

    left: DiffLine | None
    right: DiffLine | None


def parsed_diff(diff: str) -> list[FileDiff]:
    """Read a unified diff of any number of files."""
    reader = _Reader()
    for line in diff.removesuffix("\n").split("\n"):
        reader.read(line)
    return [file for file in reader.files if file.hunks or file.notes]


class _Reader:
    """Counts the lines of each place, so that a removed line of dashes is no file's name."""

    def __init__(self) -> None:
        self.files: list[FileDiff] = [FileDiff()]
        self._hunk = Hunk()
        self._old = self._new = self._n_old = self._n_new = 0

    def read(self, line: str) -> None:
        sign, text = line[:1], line[1:]
        if hunk := _HUNK.match(line):
            self._begin(hunk)
        elif sign == "\\" and self._hunk.lines:
            self._hunk.lines.append(DiffLine("note", text.strip()))
        elif sign == "+" and self._n_new > 0:
            self._hunk.lines.append(DiffLine("added", text, 0, self._new))
            self._new, self._n_new = self._new + 1, self._n_new - 1
        elif sign == "-" and self._n_old > 0:
            self._hunk.lines.append(DiffLine("removed", text, self._old, 0))
            self._old, self._n_old = self._old + 1, self._n_old - 1
        elif self._n_old > 0 or self._n_new > 0:
            self._hunk.lines.append(DiffLine("same", text, self._old, self._new))
            self._old, self._n_old = self._old + 1, self._n_old - 1
            self._new, self._n_new = self._new + 1, self._n_new - 1
        else:
            self._read_head(line)

    def _begin(self, hunk: re.Match[str]) -> None:
        self._old, self._new = int(hunk[1]), int(hunk[3])
        self._n_old, self._n_new = int(hunk[2] or 1), int(hunk[4] or 1)
        self._hunk = Hunk(hunk[5].strip())
        self.files[-1].hunks.append(self._hunk)

    def _read_head(self, line: str) -> None:
        file = self.files[-1]
        if line.startswith(("--- ", "diff ", "Binary files ")) and (file.hunks or file.notes):
            file = FileDiff()
            self.files.append(file)
            self._hunk = Hunk()
        if line.startswith("--- "):
            file.old_name = line[4:].removeprefix("a/")
        elif line.startswith("+++ "):
            file.new_name = line[4:].removeprefix("b/")
        elif line.startswith("Binary files "):
            file.notes.append(line)


def pairs_of(lines: Sequence[DiffLine]) -> Iterator[Pair]:
    """Put removed lines beside the added ones that follow them, and each other line beside itself."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.kind in ("same", "note"):
            yield Pair(line, line)
            at += 1
            continue
        removed_end = _end_of(lines, at, "removed")
        added_end = _end_of(lines, removed_end, "added")
        yield from (Pair(*both) for both in zip_longest(lines[at:removed_end], lines[removed_end:added_end]))
        at = added_end


def _end_of(lines: Sequence[DiffLine], at: int, kind: LineKind) -> int:
    while (
        at < len(lines)
        and lines[at].kind in (kind, "note")
        and not (lines[at].kind == "note" and kind == "added")
    ):
        at += 1
    return at


def changed_parts(old: str, new: str) -> tuple[Span, Span] | None:
    """Return what differs between two lines that are alike, by whole words; None of others.

    Example:
        >>> changed_parts("a = old + 1", "a = new + 1")
        (Span(start=4, end=7), Span(start=4, end=7))
    """
    if max(len(old), len(new)) > EMPHASIS_LIMIT_CHARS:
        return None
    olds, news = _WORD.findall(old), _WORD.findall(new)
    shorter = min(len(olds), len(news))
    n_before = next((n for n in range(shorter) if olds[n] != news[n]), shorter)
    rest = shorter - n_before
    n_after = next((n for n in range(rest) if olds[-1 - n] != news[-1 - n]), rest)
    start = sum(map(len, olds[:n_before]))
    n_end = sum(map(len, olds[len(olds) - n_after :]))
    alike = len("".join((old[:start] + old[len(old) - n_end :]).split()))
    whole = max(len("".join(old.split())), len("".join(new.split())))
    if alike < whole * LEAST_ALIKE or not whole:
        return None
    return Span(start, len(old) - n_end), Span(start, len(new) - n_end)


__all__ = [
    "DiffLine",
    "FileDiff",
    "Hunk",
    "LineKind",
    "Pair",
    "Span",
    "changed_parts",
    "pairs_of",
    "parsed_diff",
]
