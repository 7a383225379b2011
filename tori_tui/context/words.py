"""The pieces of a text by which messages are compared: its lines, and the names in them.

Must not know messages' order or goals; the same text gives the same pieces in one process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, cast

from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import Message

BLOCK_LINES: Final = 20
"""Results are compared, and pinned, in blocks of this many lines (DESIGN §7)."""

MIN_LINE_CHARS: Final = 12
"""Shorter lines (brackets, `return`) stand everywhere and tell nothing."""

_MARKS: Final = re.compile(r"[+-]?(?:\s*\d+(?:\t|→|:|\s*\|))?\s*")
_NAME: Final = re.compile(r"[\w.@~-]*(?:[\\/]+[\w.@()\[\]-]+)+|[\w-]+\.[A-Za-z]{1,5}\b|[A-Za-z_]\w{5,}")
_SEPARATOR: Final = re.compile(r"[\\/]+")
_FILE_NAME: Final = re.compile(r"[\w-]+\.[A-Za-z]{1,5}")


class Line(NamedTuple):
    """A line that is long enough to be told from others."""

    row: int
    key: int
    pair: int
    """Stands for the line together with the one before it and what is between."""


def said_text(message: Message) -> str:
    """Return a message as text: what was said, then each call with its arguments."""
    if not message.tool_calls:
        return message.text
    parts = [message.text] if message.text else []
    for call in message.tool_calls:
        parts.append(call.name)
        parts += [call.arguments_raw] if call.arguments_raw else list(_texts(call.arguments.values()))
    return "\n".join(parts)


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _texts(value)
        else:
            yield str(value)


def long_lines(rows: Iterable[str]) -> tuple[Line, ...]:
    """Return the telling lines, without line numbers, diff marks and indentation."""
    found: list[Line] = []
    before = 0
    between: list[str] = []
    marks = cast("Callable[[str], re.Match[str]]", _MARKS.match)  # it can match nothing, so it always does
    for row, text in enumerate(rows):
        bare = text[marks(text).end() :].rstrip()
        if len(bare) < MIN_LINE_CHARS:
            if bare:
                between.append(bare)
            continue
        key = hash(bare)
        found.append(Line(row, key, hash((before, *between, key))))
        before = key
        between.clear()
    return tuple(found)


class LinesOf:
    """The telling lines of a session's messages, each found once while somebody may ask again."""

    def __init__(self) -> None:
        self._known: dict[Seq, tuple[Line, ...]] = {}

    def __call__(self, seq: Seq, message: Message) -> tuple[Line, ...]:
        """Return a message's telling lines."""
        known = self._known.get(seq)
        if known is None:
            known = self._known[seq] = long_lines(said_text(message).split("\n"))
        return known

    def keep(self, seqs: Container[Seq]) -> None:
        """Forget all others."""
        self._known = {seq: lines for seq, lines in self._known.items() if seq in seqs}


def names(text: str) -> frozenset[str]:
    """Return the names in a text: paths (their last two parts), files, and compound identifiers."""
    return frozenset(name for found in set(_NAME.findall(text)) if (name := _name(found)))


def paths(text: str) -> frozenset[str]:
    """Return only the paths and file names of a text."""
    return frozenset(name for name in names(text) if "/" in name or _FILE_NAME.fullmatch(name))


def _name(found: str) -> str:
    if "/" in found or "\\" in found:
        parts = [part for part in _SEPARATOR.split(found) if part.strip(".")]
        return "/".join(parts[-2:]).strip(".,:;()").lower() if parts else ""
    if _FILE_NAME.fullmatch(found):
        return found.lower()
    is_compound = "_" in found.strip("_") or (not found.isupper() and any(c.isupper() for c in found[1:]))
    return found if is_compound else ""


__all__ = ["BLOCK_LINES", "MIN_LINE_CHARS", "Line", "LinesOf", "long_lines", "names", "paths", "said_text"]
