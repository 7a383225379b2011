"""Replacing one text in a file's bytes by another, and nothing else.

Pure functions. Must not read or write files, nor choose for the caller where several places fit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.encoding import Decoded, is_binary, readings
from tori_tui.workspace.nearest import nearest_lines, numbered

PREVIEWED_MATCHES: Final = 5
PREVIEW_LIMIT_CHARS: Final = 80

STRAIGHT_QUOTES: Final = str.maketrans(dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛", "'"))

_NUMBERED: Final = re.compile(r"\s*\d+\t")
"""A line as read_file shows it."""

CURLY_NOTE: Final = "The file's curly quotes matched your straight ones; those you did not change are kept."
BLANKS_NOTE: Final = (
    "Matched although its whitespace differs from `old`; check the indentation of the new lines."
)


class EditRefused(ToriError):
    """An edit that does not say for certain which bytes to change."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What came of an edit."""

    data: bytes
    n_replaced: int
    first_line: int
    """Of the first change, counted from 1."""
    note: str = ""
    """What the model should know about how its text was found."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A span of the flat text and what takes its place."""

    start: int
    end: int
    text: str


class _Flat:
    """A decoded file with every CRLF as LF, and the way back."""

    def __init__(self, decoded: Decoded) -> None:
        self.decoded = decoded
        self.text = decoded.text.replace("\r\n", "\n")
        self._crlf_at = [
            found.start() - index for index, found in enumerate(re.finditer("\r\n", decoded.text))
        ]

    def original(self, index: int) -> int:
        """Return where a position of the flat text is in the decoded one; before a CRLF, not inside."""
        return index + bisect_left(self._crlf_at, index)

    def newline_at(self, start: int, end: int) -> str:
        """Return how lines end there: in the span, else after it, else before it."""
        places = (
            self.text.find("\n", start, end),
            self.text.find("\n", end),
            self.text.rfind("\n", 0, start),
        )
        at = next((place for place in places if place >= 0), None)
        if at is None:
            return "\n"
        index = bisect_left(self._crlf_at, at)
        return "\r\n" if index < len(self._crlf_at) and self._crlf_at[index] == at else "\n"

    def line_of(self, index: int) -> int:
        """Return the number of the line in which a position lies."""
        return self.text.count("\n", 0, index) + 1


def replace_text(data: bytes, old: str, new: str, replace_all: bool = False) -> EditResult:
    """Return the bytes with `old` replaced by `new`; all other bytes are those that came in.

    `old` must be there exactly once, unless `replace_all`. Line ends match each other, and new lines end
    as the lines at their place do. Straight quotes in `old` match curly ones, and lines that differ
    from `old` in whitespace only match where that is the only such place; of such matches only what
    differs between `old` and `new` is changed. `new` is literal.

    Raises:
        EditRefused: Says how often `old` is there and where, or what is nearest to it.
    """
    flats = [_Flat(decoded) for decoded in readings(data)]
    old, new = _flattened(flats[0], old, new)
    if not old:
        return _filled_empty(data, new)
    if old == new:
        raise EditRefused(
            "`old` and `new` are the same.", "Nothing needs to be changed, or give another `new`."
        )
    for find, note in ((_exact, ""), (_curly, CURLY_NOTE), (_blanks, BLANKS_NOTE)):
        for flat in flats:
            changes = find(flat.text, old, new)
            if not changes:
                continue
            if len(changes) > 1 and (not replace_all or find is _blanks):
                raise _ambiguous(flat, changes, can_replace_all=find is not _blanks)
            return _applied(data, flat, _apart(changes), note)
    raise _not_found(flats[0].text, old)


def whole_text(before: bytes, content: str) -> bytes:
    """Return a whole new content in the encoding of the old one, with its mark and its line ends.

    Raises:
        EditRefused: The old file's encoding lacks a character of the new content.
    """
    decoded = Decoded("", "utf-8") if is_binary(before) else readings(before)[0]
    has_crlf = decoded.text.count("\r\n") * 2 > decoded.text.count("\n")
    if has_crlf:
        content = content.replace("\r\n", "\n").replace("\n", "\r\n")
    if decoded.bom:
        content = content.removeprefix("\ufeff")
    return decoded.bom + _encoded(decoded, content)


def _flattened(flat: _Flat, old: str, new: str) -> tuple[str, str]:
    if flat.decoded.bom:
        old, new = old.removeprefix("\ufeff"), new.removeprefix("\ufeff")
    if "\r\n" in old:
        new = new.replace("\r\n", "\n")
    return old.replace("\r\n", "\n"), new


def _filled_empty(data: bytes, new: str) -> EditResult:
    decoded = readings(data)[0]
    if decoded.text:
        raise EditRefused(
            "`old` is empty, but the file is not.",
            "To add text, give a piece that is there as `old` and repeat it in `new`; "
            "to replace everything, use write_file.",
        )
    return EditResult(decoded.bom + _encoded(decoded, new), 1, 1)


def _exact(text: str, old: str, new: str) -> list[_Change]:
    return [_Change(start, start + len(old), new) for start in _positions(text, old)]


def _curly(text: str, old: str, new: str) -> list[_Change]:
    straight = text.translate(STRAIGHT_QUOTES)
    if straight == text:
        return []
    head, tail = _common_ends(old, new)
    changes = []
    for start in _positions(straight, old.translate(STRAIGHT_QUOTES)):
        end = start + len(old)
        kept_head, kept_tail = text[start : start + head], text[end - tail : end]
        changes.append(_Change(start, end, kept_head + new[head : len(new) - tail] + kept_tail))
    return changes


def _blanks(text: str, old: str, new: str) -> list[_Change]:
    """Find whole lines that differ from those of `old` in whitespace only."""
    lines, wanted = text.split("\n"), old.removesuffix("\n").split("\n")
    keys = [_key(line) for line in wanted]
    if not any(keys):
        return []
    file_keys = [_key(line) for line in lines]
    starts = _line_starts(lines)
    firsts = (index for index, key in enumerate(file_keys[: len(lines) - len(keys) + 1]) if key == keys[0])
    found = [first for first in firsts if file_keys[first : first + len(keys)] == keys]
    return [_lines_changed(lines, starts, first, old, new) for first in found]


def _lines_changed(lines: Sequence[str], starts: Sequence[int], first: int, old: str, new: str) -> _Change:
    wanted, last = old.removesuffix("\n").split("\n"), first + old.removesuffix("\n").count("\n")
    start, end = starts[first], starts[last] + len(lines[last])
    matched = list(lines[first : last + 1])
    # Where `old` begins or ends without blanks, those of the line are not part of the match.
    if not wanted[-1].endswith((" ", "\t")):
        end -= len(matched[-1]) - len(matched[-1].rstrip())
        matched[-1] = matched[-1].rstrip()
    if not wanted[0].startswith((" ", "\t")):
        start += len(matched[0]) - len(matched[0].lstrip())
        matched[0] = matched[0].lstrip()
    given = (new.removesuffix("\n") if old.endswith("\n") else new).split("\n")
    is_removed = old.endswith("\n") and new == ""
    head, tail = _common_ends(wanted, given)
    kept = [*matched[:head], *given[head : len(given) - tail], *matched[len(matched) - tail :]]
    if is_removed and last + 1 < len(lines):
        return _Change(starts[first], starts[last + 1], "")
    return _Change(start, end, "\n".join(kept))


def _line_starts(lines: Iterable[str]) -> list[int]:
    starts, position = [], 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    return starts


def _key(line: str) -> str:
    return " ".join(line.split())


def _positions(text: str, wanted: str) -> list[int]:
    """Return where a text begins, matches that overlap each other included."""
    found, position = [], text.find(wanted)
    while position >= 0:
        found.append(position)
        position = text.find(wanted, position + 1)
    return found


def _common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many items both begin with and, of the rest, both end with."""
    head = _n_common(zip(one, other, strict=False))
    rest = min(len(one), len(other)) - head
    tail = _n_common(islice(zip(reversed(one), reversed(other), strict=False), rest))
    return head, tail


def _n_common(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _apart(changes: Iterable[_Change]) -> list[_Change]:
    """Leave out each change that overlaps the one before it."""
    kept: list[_Change] = []
    for change in changes:
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept


def _applied(data: bytes, flat: _Flat, changes: Sequence[_Change], note: str) -> EditResult:
    decoded = flat.decoded
    pieces = [decoded.bom]
    at_text, at_byte = 0, len(decoded.bom)
    for change in changes:
        start, end, text = _narrowed(flat, change)
        kept_bytes = decoded.size_of(decoded.text[at_text:start])
        pieces += [data[at_byte : at_byte + kept_bytes], _encoded(decoded, text)]
        at_text, at_byte = end, at_byte + kept_bytes + decoded.size_of(decoded.text[start:end])
    return EditResult(b"".join([*pieces, data[at_byte:]]), len(changes), flat.line_of(changes[0].start), note)


def _narrowed(flat: _Flat, change: _Change) -> tuple[int, int, str]:
    """Return a change in the decoded text's own positions, without what stays the same at its ends."""
    newline = flat.newline_at(change.start, change.end)
    head, tail = 0, 0
    if "\r" not in change.text:
        head, tail = _common_ends(flat.text[change.start : change.end], change.text)
    text = change.text[head : len(change.text) - tail]
    if newline == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return flat.original(change.start + head), flat.original(change.end - tail), text


def _encoded(decoded: Decoded, text: str) -> bytes:
    try:
        return decoded.encode_new(text)
    except UnicodeEncodeError as error:
        character = text[error.start]
        if "\ud800" <= character <= "\udfff":
            raise EditRefused(
                f"The new text holds half of a character ({character!a}).", "Write the character itself."
            ) from None
        raise EditRefused(
            f"The file's encoding ({decoded.codec}) has no {character!r}.",
            "Use characters that it has, or an escape of the file's own language.",
        ) from None


def _ambiguous(flat: _Flat, changes: Sequence[_Change], can_replace_all: bool) -> EditRefused:
    rows = []
    for change in changes[:PREVIEWED_MATCHES]:
        begin = flat.text.rfind("\n", 0, change.start) + 1
        line = flat.text[begin : flat.text.find("\n", begin) if "\n" in flat.text[begin:] else None]
        rows.append(f"{flat.line_of(change.start)}\t{line[:PREVIEW_LIMIT_CHARS]}")
    if len(changes) > PREVIEWED_MATCHES:
        rows.append(f"… and {len(changes) - PREVIEWED_MATCHES} more")
    way = ", or set replace_all" if can_replace_all else ""
    how = "`old` is there" if can_replace_all else "But for whitespace `old` is there"
    return EditRefused(
        f"{how} {len(changes)} times:\n" + "\n".join(rows), f"Add lines around it until only one fits{way}."
    )


def _not_found(text: str, old: str) -> EditRefused:
    if all(_NUMBERED.match(line) for line in old.removesuffix("\n").split("\n")):
        return EditRefused("`old` is not in the file: it begins with line numbers.", "Leave them out.")
    nearest = nearest_lines(text.split("\n"), old.removesuffix("\n").split("\n"))
    if nearest is None:
        return EditRefused("`old` is not in the file, nor anything like it.", "Read the file first.")
    return EditRefused(
        f"`old` is not in the file. Nearest (· space, → tab):\n{numbered(nearest)}",
        "Give `old` as it stands in the file.",
    )


__all__ = ["EditRefused", "EditResult", "replace_text", "whole_text"]
