"""Finds pastes in what the terminal sends: those that brackets mark, and those too fast to be typed.

Must not lose, change or move a character of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from textual import events

START: Final = "\x1b[200~"
END: Final = "\x1b[201~"

PASTE_CHARS: Final = 48
"""So many printable characters in one read were not typed: no hand is that fast."""

PATIENCE_S: Final = 2.0
"""A paste whose end marker has not come by then is taken as it is."""

Part = str | events.Paste


class Pastes:
    """Takes what each read gave and hands on keys as text and pastes as one event each.

    The parser of the keys never sees a bracketed paste: it would take it character by character,
    and what came too fast in the middle of one would overtake its beginning.
    """

    def __init__(self) -> None:
        self._pieces: list[str] | None = None
        """Of the bracketed paste that is under way."""
        self._tail = ""
        """The end of the last read, where it may be the beginning of a marker."""
        self._quiet_s = 0.0

    def feed(self, text: str, *, is_full: bool) -> Iterator[Part]:
        """Yield the parts of a read, in order.

        Args:
            text: What one read gave.
            is_full: The read gave all it could, so that more of the same follows.
        """
        self._quiet_s = 0.0
        text, self._tail = self._tail + text, ""
        while text:
            if self._pieces is not None:
                inside, marker, text = self._until(text, END, may_hold=True)
                self._pieces.append(inside)
                if marker:
                    yield self._finished()
                continue
            keys, marker, text = self._until(text, START, may_hold=is_full)
            if keys:
                yield from split_pastes(keys, is_full=is_full and not marker)
            if marker:
                self._pieces = []

    def wait(self, seconds: float) -> Iterator[Part]:
        """Say that nothing came for so long; an unfinished paste or sequence is then handed on."""
        self._quiet_s += seconds
        if self._quiet_s < PATIENCE_S:
            return
        if self._pieces is not None:
            self._pieces.append(self._tail)
            self._tail = ""
            yield self._finished()
        elif self._tail:
            tail, self._tail = self._tail, ""
            yield tail

    def _until(self, text: str, marker: str, *, may_hold: bool) -> tuple[str, str, str]:
        """Split at a marker; a beginning of one at the text's end is held back for the next read."""
        before, found, rest = text.partition(marker)
        if found:
            return before, found, rest
        held = _beginning_at_end(text, marker)
        # A lone Escape is a key; only from `ESC [ 2` on nothing but a sequence can follow.
        if held and (may_hold or held >= 3):
            self._tail = text[-held:]
            return text[:-held], "", ""
        return text, "", ""

    def _finished(self) -> events.Paste:
        whole = "".join(self._pieces or ())
        self._pieces = None
        return events.Paste(whole.replace("\x00", ""))


def split_pastes(text: str, *, is_full: bool) -> Iterator[Part]:
    """Yield keys as text, and as a paste what came without brackets and too fast to be typed."""
    body = text if is_full else text.rstrip("\r\n")
    end = text[len(body) :]
    if "\x1b" in text or len(body) < 2:
        yield text
        return
    has_line_break = "\r" in body or "\n" in body
    is_printable = all(character.isprintable() or character in "\r\n\t" for character in body)
    if is_printable and (len(body) >= PASTE_CHARS or (has_line_break and len(body) > 2)):
        yield events.Paste(body)
        if end:
            yield end
    else:
        yield text


def _beginning_at_end(text: str, marker: str) -> int:
    """Return how many characters at the text's end are a beginning of the marker."""
    return next((n for n in range(len(marker) - 1, 0, -1) if text.endswith(marker[:n])), 0)


__all__ = ["PASTE_CHARS", "PATIENCE_S", "Pastes", "split_pastes"]
