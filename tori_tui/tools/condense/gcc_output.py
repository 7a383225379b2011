"""GCC, Clang and the builds around them: progress is left out, and warnings where there are errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SIGN: Final = re.compile(r"^[^\s:][^:\n]*:\d+:\d+: (?:fatal error|error|warning): ", re.M)
_DIAGNOSTIC: Final = re.compile(r"[^\s:][^:]*:\d+(?::\d+)?: (?P<kind>fatal error|error|warning|note): ")
_CONTEXT: Final = re.compile(
    r"In file included from |                 from |[^\s:][^:]*: (?:In |At (?:global|top)|in )"
    r"|[^\s:][^:]*:\d+(?::\d+)?:   +required "
)
_FRAME: Final = re.compile(r" *\d* *\| ?|  +[\^~]|      +\S")
_MARKS: Final = re.compile(r" *[~ ]*\^[~^ ]*$")
_PROGRESS: Final = re.compile(
    r"(?:g?make|ninja)(?:\[\d+\])?: (?:Entering|Leaving) directory "
    r"|\[ *\d+%\] (?:Building|Linking|Built|Generating) "
    r"|\[\d+/\d+\] (?:Building|Linking|Compiling|Generating) |  (?:CC|CXX|LD|AR|HOSTCC|GEN) +\S+$"
)


def _noise(lines: Sequence[str]) -> set[int]:
    found = matching(lines, _PROGRESS)
    blocks = list(_blocks(lines))
    if any(kind.endswith("error") for kind, _, _ in blocks):
        for kind, first, end in blocks:
            found |= set(range(first, end)) if kind == "warning" else set()
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield kind, first line and end of each diagnostic, with the lines that lead to it and its notes."""
    at = 0
    while at < len(lines):
        first = at
        while at < len(lines) and _CONTEXT.match(lines[at]):
            at += 1
        head = _DIAGNOSTIC.match(lines[at]) if at < len(lines) else None
        if head is None:
            at = max(at, first + 1)
            continue
        at += 1
        while at < len(lines) and (_is_frame(lines, at) or _is_note(lines[at])):
            at += 1
        yield head["kind"], first, at


def _is_frame(lines: Sequence[str], at: int) -> bool:
    """Whether a line repeats the source or marks a place in it."""
    is_marked = at + 1 < len(lines) and _MARKS.match(lines[at + 1])
    return bool(_FRAME.match(lines[at]) or is_marked)


def _is_note(line: str) -> bool:
    found = _DIAGNOSTIC.match(line)
    return found is not None and found["kind"] == "note"


GCC: Final = Recogniser("the compiler", _SIGN, _noise)

__all__ = ["GCC"]
