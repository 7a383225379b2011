"""The pieces of a text by which messages are compared: its lines, and the names in them.

Must not know messages' order or goals; the same text gives the same pieces in one process.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import Message

BLOCK_LINES: Final = 20
"""Results are compared, and pinned, in blocks of this many lines (DESIGN §7)."""

MIN_LINE_CHARS: Final = 12
"""Shorter lines (brackets, `return`) stand everywhere and tell nothing."""

KNOWN_WORDS: Final = 8_192
"""Different words of which the names are remembered: about those of twenty source files."""

_MARKS: Final = re.compile(r"[+-]?(?:\s*\d+(?:\t|→|:|\s*\|))?\s*")
_NAME: Final = re.compile(r"[\w.@~-]*+(?:[\\/]++[\w.@()\[\]-]++)++|[\w-]++\.[A-Za-z]{1,5}\b|[A-Za-z_]\w{5,}+")
_SEPARATOR: Final = re.compile(r"[\\/]+")
_FILE_NAME: Final = re.compile(r"[\w-]+\.[A-Za-z]{1,5}")

_IN_NAMES: Final = (string.ascii_letters + string.digits + "_.@~-\\/()[]").encode()
_APART: Final = bytes(code if code >= 0x80 or code in _IN_NAMES else ord(" ") for code in range(0x100))
"""Puts a space for every byte of UTF-8 that stands in no name."""


class Lines(NamedTuple):
    """The lines of a text that are long enough to be told from others, as columns."""

    rows: Sequence[int]
    keys: Sequence[int]
    pairs: Sequence[int]
    """Each stands for the line together with the one before it and what is between."""
    ends: Sequence[int]
    """How many characters the first so many rows of the whole text have, without their newlines."""

    def keys_in(self, first: int, end: int) -> Sequence[int]:
        """Return the keys of the rows from `first` to before `end`."""
        return self.keys[self._at(first) : self._at(end)]

    def within(self, first: int, end: int) -> Lines:
        """Return only the rows from `first` to before `end`."""
        if not self.rows or (first <= self.rows[0] and self.rows[-1] < end):
            return self
        part = slice(self._at(first), self._at(end))
        return Lines(self.rows[part], self.keys[part], self.pairs[part], self.ends)

    def _at(self, row: int) -> int:
        return bisect_left(self.rows, row)


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


def long_lines(text: str) -> Lines:
    """Return the telling lines, without line numbers, diff marks and indentation."""
    texts = text.split("\n")
    bare = [_bare(line) for line in texts]
    rows = [row for row, line in enumerate(bare) if len(line) >= MIN_LINE_CHARS]
    keys = [hash(bare[row]) for row in rows]
    pairs: list[int] = []
    last, before = -1, 0
    for row, key in zip(rows, keys, strict=True):
        between = filter(None, bare[last + 1 : row]) if row > last + 1 else ()
        pairs.append(hash((before, *between, key)))
        last, before = row, key
    return Lines(rows, keys, pairs, tuple(accumulate(map(len, texts), initial=0)))


def _bare(line: str) -> str:
    """Return a line without its marks; most begin with a letter, or with a number and a tab."""
    text = line.strip()
    first = text[:1]
    if first.isdecimal():
        number, tab, rest = text.partition("\t")
        if tab and number.isdecimal():
            return rest.lstrip()
    elif first not in ("+", "-"):
        return text
    marks = _MARKS.match(line)
    return line[marks.end() if marks else 0 :].rstrip()


class LinesOf:
    """The telling lines of a session's messages, each found once while somebody may ask again."""

    def __init__(self) -> None:
        self._known: dict[Seq, Lines] = {}

    def __call__(self, seq: Seq, message: Message) -> Lines:
        """Return a message's telling lines."""
        known = self._known.get(seq)
        if known is None:
            known = self._known[seq] = long_lines(said_text(message))
        return known

    def keep(self, seqs: Container[Seq]) -> None:
        """Forget all others."""
        self._known = {seq: lines for seq, lines in self._known.items() if seq in seqs}


def names(text: str) -> frozenset[str]:
    """Return the names in a text: paths (their last two parts), files, and compound identifiers."""
    apart = text.encode("utf-8", "surrogatepass").translate(_APART).decode("utf-8", "surrogatepass")
    return frozenset[str]().union(*map(_names_in, set(apart.split())))


@lru_cache(maxsize=KNOWN_WORDS)
def _names_in(word: str) -> tuple[str, ...]:
    """Return the names in a part of a text that no name reaches out of; most words come again and again."""
    return tuple(name for found in _NAME.findall(word) if (name := _name(found)))


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


__all__ = ["BLOCK_LINES", "MIN_LINE_CHARS", "Lines", "LinesOf", "long_lines", "names", "paths", "said_text"]
