r"""Which parts of its output a program coloured, told beside the plain text.

Must not let a control code through: what is told of a part is a list of numbers that are known.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tori_tui.workspace.terminal_text import CONTROL, SEQUENCE, last_state

PARTS_LIMIT: Final = 2_000
"""Of one output; what comes after them is plain."""

_COLORING: Final = re.compile("(?:\x1b\\[|\x9b)([0-9;:]*)m")

_EXTENDED: Final = {"38", "48"}

_SWITCHES: Final = {"1": 0, "2": 1, "3": 2, "4": 3, "7": 4, "9": 5}
_UNSWITCHES: Final = {"22": (0, 1), "23": (2,), "24": (3,), "27": (4,), "29": (5,)}
_CODES: Final = ("1", "2", "3", "4", "7", "9")


class ColoredPart(NamedTuple):
    """A part of a text in one look."""

    start: int
    end: int
    codes: str
    """All that is on, as the numbers between `ESC [` and `m`: `1;31`, `38;5;208`, `7;38;2;1;2;3`."""


def colored_parts(raw: str, text: str) -> list[ColoredPart]:
    """Return how the lines of an output look, where they stand in a text that is made of it.

    Args:
        raw: What the program printed.
        text: Its plain form, of which lines may be left out and into which others may have been put.
    """
    if _COLORING.search(raw) is None:
        return []
    places: dict[str, list[int]] = {}
    lines = list(_lines(raw))
    for index, (line, _) in enumerate(lines):
        places.setdefault(line, []).append(index)
    parts: list[ColoredPart] = []
    start = at = 0
    for line in text.split("\n"):
        known = places.get(line, ())
        found = bisect_left(known, at)
        if line and found < len(known):
            at = known[found] + 1
            parts += (ColoredPart(start + a, start + b, codes) for a, b, codes in lines[at - 1][1])
        start += len(line) + 1
    return parts[:PARTS_LIMIT]


class _Run(NamedTuple):
    text: str
    codes: str


def _lines(raw: str) -> Iterator[tuple[str, list[ColoredPart]]]:
    """Yield each line as it stands in the end, with its looks."""
    look = _Look()
    line: list[_Run] = []
    at = 0
    for sequence in SEQUENCE.finditer(raw):
        yield from _ended(raw[at : sequence.start()], look.codes, line)
        if coloring := _COLORING.fullmatch(sequence[0]):
            look.take(coloring[1])
        at = sequence.end()
    yield from _ended(raw[at:], look.codes, line)
    yield _final(line)


def _ended(text: str, codes: str, line: list[_Run]) -> Iterator[tuple[str, list[ColoredPart]]]:
    """Add to the line that is open, and yield those that end in the text."""
    *ended, rest = text.split("\n")
    for piece in ended:
        line.append(_Run(piece, codes))
        yield _final(line)
        line.clear()
    if rest:
        line.append(_Run(rest, codes))


def _final(line: Sequence[_Run]) -> tuple[str, list[ColoredPart]]:
    text = "".join(run.text for run in line)
    looks = [run.codes for run in line for _ in run.text] if CONTROL.search(text) else None
    if looks is not None:
        kept = _kept(text)
        text, runs = "".join(text[i] for i in kept), [_Run(text[i], looks[i]) for i in kept]
    else:
        runs = list(line)
    parts: list[ColoredPart] = []
    at = 0
    for run in runs:
        end = at + len(run.text)
        if parts and parts[-1].end == at and parts[-1].codes == run.codes:
            parts[-1] = ColoredPart(parts[-1].start, end, run.codes)
        elif run.codes and run.text:
            parts.append(ColoredPart(at, end, run.codes))
        at = end
    return text, parts


def _kept(text: str) -> list[int]:
    """Return the places of the characters that stand there in the end."""
    kept: list[int] = []
    for place, character in enumerate(text):
        if character == "\x08" and kept and kept[-1] == place - 1 and text[place - 1] != "\x08":
            kept.pop()  # struck over
        else:
            kept.append(place)
    while kept and text[kept[-1]] == "\r":
        kept.pop()
    states: list[list[int]] = [[]]
    for place in kept:
        if text[place] == "\r":
            states.append([])
        else:
            states[-1].append(place)
    state = last_state(states, lambda places: bool("".join(text[i] for i in places).strip()))
    return [place for place in state or () if not CONTROL.match(text[place])]


@dataclass(slots=True)
class _Look:
    """What is on now."""

    switches: int = 0
    ink: str = ""
    ground: str = ""
    codes: str = ""

    def take(self, parameters: str) -> None:
        """Apply one sequence; what it holds that is not known changes nothing."""
        numbers = iter(parameters.split(";"))
        for number in numbers:
            if number.partition(":")[0] in _EXTENDED:
                self._take_extended(number, numbers)
            else:
                self._take_one(number.lstrip("0"))
        on = [code for code in _CODES if self.switches & 1 << _SWITCHES[code]]
        self.codes = ";".join([*on, *(color for color in (self.ink, self.ground) if color)])

    def _take_one(self, number: str) -> None:
        if number == "4:0":
            number = "24"
        number = number.partition(":")[0]
        if not number:
            self.switches, self.ink, self.ground = 0, "", ""
        elif number in _SWITCHES:
            self.switches |= 1 << _SWITCHES[number]
        elif number in _UNSWITCHES:
            for bit in _UNSWITCHES[number]:
                self.switches &= ~(1 << bit)
        elif len(number) == 2 and number[0] in "39" and number[1] <= "7":
            self.ink = number
        elif number == "39":
            self.ink = ""
        elif number[:-1] in ("4", "10") and number[-1] <= "7":
            self.ground = number
        elif number == "49":
            self.ground = ""

    def _take_extended(self, number: str, numbers: Iterator[str]) -> None:
        kind, *values = number.split(":")
        if not values:
            form = next(numbers, "")
            values = [form, *(next(numbers, "") for _ in range({"5": 1, "2": 3}.get(form, 0)))]
        n_values = {"5": 1, "2": 3}.get(values[0], 0)
        colors = values[-n_values:]
        if not n_values or len(values) <= n_values or not all(_is_byte(color) for color in colors):
            return
        color = ";".join([kind, values[0], *(str(int(color)) for color in colors)])
        if kind == "38":
            self.ink = color
        else:
            self.ground = color


def _is_byte(number: str) -> bool:
    return number.isascii() and number.isdigit() and len(number) <= 3 and int(number) <= 255


__all__ = ["ColoredPart", "colored_parts"]
