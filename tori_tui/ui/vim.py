"""Vim's keys for the draft: normal and insert mode, motions, what deletes, changes and puts.

Must not know a widget; what is written is reached through `Draft`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

Place = tuple[int, int]
"""Row and column."""

_WORD: Final = re.compile(r"\w+|[^\w\s]+")

_TWO_KEYS: Final = frozenset("dcyg")

_STAYING: Final = frozenset({"w", "b", "e", "0", "$", "^", "h", "l", "left", "right"})
"""Motions that `d`, `c` and `y` go with, within a line."""


class Draft(Protocol):
    """What is written."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the text."""
        ...

    @property
    def place(self) -> Place:
        """Where the cursor stands."""
        ...

    def go(self, place: Place) -> None:
        """Put the cursor somewhere."""
        ...

    def beside(self, by: int) -> Place:
        """Return the place a character to the left (-1) or right (1), as people count characters."""
        ...

    def cut(self, start: Place, end: Place) -> str:
        """Take a text out and return it."""
        ...

    def put(self, text: str, place: Place) -> None:
        """Put a text somewhere; the cursor follows behind it."""
        ...

    def take_back(self) -> None:
        """Undo the last change."""
        ...

    def do_again(self) -> None:
        """Redo what was undone."""
        ...


class Vim:
    """The mode, and what was typed of a command of more than one key."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.is_insert = True
        self._verb = ""
        self._count = ""
        self._kept = ""
        """What was taken out or copied last; whole lines end with a line break."""

    @property
    def told(self) -> str:
        """The mode and the beginning of a command, for the user."""
        return "INSERT" if self.is_insert else f"NORMAL {self._count}{self._verb}".strip()

    def insert(self) -> None:
        """Write from now on."""
        self.is_insert, self._verb, self._count = True, "", ""

    def press(self, key: str, character: str | None) -> bool:
        """Take a key; False leaves it to whoever takes keys without this.

        Args:
            key: Its name.
            character: What it would write.
        """
        if self.is_insert:
            if key != "escape":
                return False
            self.is_insert = False
            if self._draft.place[1]:
                self._draft.go(self._draft.beside(-1))
            return True
        if key == "escape":
            has_begun = bool(self._verb or self._count)
            self._verb = self._count = ""
            return has_begun
        if character is None or not character.isprintable():
            return False
        if character.isdecimal() and (self._count or character != "0"):
            self._count = (self._count + character)[:3]
            return True
        if not self._verb and character in _TWO_KEYS:
            self._verb = character
            return True
        verb, times = self._verb, min(int(self._count or 1), 999)
        self._verb = self._count = ""
        for _ in range(times):
            self._obey(verb, character)
        self._clamp()
        return True

    def _obey(self, verb: str, key: str) -> None:
        if verb in ("d", "c", "y"):
            self._change(verb, key)
        elif verb == "g":
            if key == "g":
                self._draft.go((0, 0))
        elif (target := self._target(key)) is not None:
            self._draft.go(target)
        else:
            self._command(key)

    # ── motions ──

    def _target(self, key: str) -> Place | None:
        """Return where a motion leads."""
        (row, column), lines = self._draft.place, self._draft.lines
        match key:
            case "h" | "l":
                beside = self._draft.beside(1 if key == "l" else -1)
                return beside if beside[0] == row else (row, column)
            case "j" | "k":
                to = row + (1 if key == "j" else -1)
                return (to, min(column, len(lines[to]))) if 0 <= to < len(lines) else (row, column)
            case "w":
                return next_word(lines, row, column)
            case "b":
                return word_before(lines, row, column)
            case "e":
                return end_of_word(lines, row, column)
            case "0":
                return row, 0
            case "^":
                return row, len(lines[row]) - len(lines[row].lstrip())
            case "$":
                return row, len(lines[row])
            case "G":
                return len(lines) - 1, 0
            case _:
                return None

    def _clamp(self) -> None:
        """In normal mode the cursor stands on a character, not behind the last one."""
        row, column = self._draft.place
        if not self.is_insert and column and column >= len(self._draft.lines[row]):
            self._draft.go(self._draft.beside(-1))

    # ── changes ──

    def _change(self, verb: str, key: str) -> None:
        (row, column), lines = self._draft.place, self._draft.lines
        if key == verb:
            self._take_line(verb, row)
        elif key in _STAYING and (target := self._target(key)) is not None:
            if verb == "c" and key == "w":
                target = end_of_word(lines, row, column - 1 if column else -1)
            if key == "e" or (verb == "c" and key == "w"):
                target = (target[0], target[1] + 1)
            # A word's deletion stays in its line.
            end = target if target[0] == row else (row, len(lines[row]) if target > (row, column) else 0)
            start, end = sorted(((row, column), end))
            if verb == "y":
                self._kept = lines[row][start[1] : end[1]]
                self._draft.go(start)
            else:
                self._kept = self._draft.cut(start, end)
        else:
            return
        if verb == "c":
            self.insert()

    def _take_line(self, verb: str, row: int) -> None:
        lines = self._draft.lines
        if verb == "y":
            self._kept = f"{lines[row]}\n"
            return
        if verb == "c":
            self._kept = self._draft.cut((row, 0), (row, len(lines[row])))
            return
        if row + 1 < len(lines):
            self._kept = self._draft.cut((row, 0), (row + 1, 0))
            self._draft.go((row, 0))
            return
        start = (row - 1, len(lines[row - 1])) if row else (0, 0)
        self._kept = self._draft.cut(start, (row, len(lines[row]))).removeprefix("\n") + "\n"
        self._draft.go((max(0, row - 1), 0))

    def _command(self, key: str) -> None:
        (row, column), lines = self._draft.place, self._draft.lines
        end = (row, len(lines[row]))
        match key:
            case "i" | "I" | "a" | "A":
                self._begin_at(key, row)
            case "o":
                self._draft.put("\n", end)
                self.insert()
            case "O":
                self._draft.put("\n", (row, 0))
                self._draft.go((row, 0))
                self.insert()
            case "x" if lines[row]:
                self._kept = self._draft.cut((row, column), min(self._draft.beside(1), end))
            case "X" if column:
                self._kept = self._draft.cut(self._draft.beside(-1), (row, column))
            case "D" | "C":
                self._kept = self._draft.cut((row, column), end)
                if key == "C":
                    self.insert()
            case "p" | "P":
                self._put(is_before=key == "P")
            case "u":
                self._draft.take_back()
            case "U":
                self._draft.do_again()
            case _:
                pass

    def _begin_at(self, key: str, row: int) -> None:
        line = self._draft.lines[row]
        if key == "I":
            self._draft.go((row, len(line) - len(line.lstrip())))
        elif key == "A":
            self._draft.go((row, len(line)))
        elif key == "a" and line:
            self._draft.go(min(self._draft.beside(1), (row, len(line))))
        self.insert()

    def _put(self, *, is_before: bool) -> None:
        (row, column), text = self._draft.place, self._kept
        line = self._draft.lines[row]
        if text.endswith("\n"):
            if is_before:
                self._draft.put(text, (row, 0))
                self._draft.go((row, 0))
            else:
                self._draft.put(f"\n{text[:-1]}", (row, len(line)))
                self._draft.go((row + 1, 0))
        elif text:
            self._draft.put(text, (row, column) if is_before or not line else self._draft.beside(1))
            self._draft.go(self._draft.beside(-1))


def next_word(lines: Sequence[str], row: int, column: int) -> Place:
    """Return where the next word begins; the end of the text where there is none."""
    for at in range(row, len(lines)):
        starts = (match.start() for match in _WORD.finditer(lines[at]))
        found = next((start for start in starts if at > row or start > column), None)
        if found is not None:
            return at, found
    return len(lines) - 1, len(lines[-1])


def word_before(lines: Sequence[str], row: int, column: int) -> Place:
    """Return where this word begins, or the one before it; the start of the text where there is none."""
    for at in range(row, -1, -1):
        starts = [match.start() for match in _WORD.finditer(lines[at]) if at < row or match.start() < column]
        if starts:
            return at, starts[-1]
    return 0, 0


def end_of_word(lines: Sequence[str], row: int, column: int) -> Place:
    """Return the last character of this word, or of the next one from its last character on."""
    for at in range(row, len(lines)):
        ends = (match.end() - 1 for match in _WORD.finditer(lines[at]))
        found = next((end for end in ends if at > row or end > column), None)
        if found is not None:
            return at, found
    return len(lines) - 1, max(0, len(lines[-1]) - 1)


__all__ = ["Draft", "Vim", "end_of_word", "next_word", "word_before"]
