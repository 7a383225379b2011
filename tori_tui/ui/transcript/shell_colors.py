"""The colours of a command's output, as they can be read on the theme's ground.

Must not draw a code that it does not know, nor hide a word: what is dim or hidden is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from rich.color import Color, ColorType
from rich.style import Style
from rich.text import Text

from tori_tui.domain.messages import COLORS, JsonObject
from tori_tui.render.safe_text import safe_text
from tori_tui.ui.contrast import BLACK, WHITE, Rgb, contrast, readable
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import TAB_CELLS

NAMED_COLORS: Final = 16

VISIBLE: Final = 2.2
"""Against black and against white: what is nearer to either may not be seen on a ground nobody knows."""

Part = tuple[int, int, str]
"""First character, the one behind the last, the numbers between `ESC [` and `m`."""


class ShellColors:
    """Styles of one output's parts. Each is made once."""

    def __init__(self, details: JsonObject, palette: Palette) -> None:
        self._parts = parts_of(details)
        self._palette = palette
        self._styles: dict[str, Style] = {}
        self._at = 0

    def line(self, text: str, start: int) -> Text:
        """Return a line of the output, safe to show.

        Args:
            text: The line, or its beginning.
            start: Where it begins in the output; from one call to the next it only grows.
        """
        if not self._parts:
            return Text(safe_text(text).expandtabs(TAB_CELLS))
        line, at, end = Text(), start, start + len(text)
        while self._at < len(self._parts) and self._parts[self._at][1] <= start:
            self._at += 1
        for first, last, codes in islice(self._parts, self._at, None):
            if first >= end:
                break
            line.append(safe_text(text[at - start : max(first, at) - start]))
            line.append(safe_text(text[max(first, at) - start : last - start]), self._style(codes))
            at = max(at, min(last, end))
        line.append(safe_text(text[at - start :]))
        if "\t" in line.plain:
            line.expand_tabs(TAB_CELLS)
        return line

    def _style(self, codes: str) -> Style:
        if codes not in self._styles:
            self._styles[codes] = style_of(codes, self._palette)
        return self._styles[codes]


def parts_of(details: JsonObject) -> Sequence[Part]:
    """Return the coloured parts that a call's details tell of; what is no part is left out."""
    told = details.get(COLORS)
    parts: list[Part] = []
    for part in told if isinstance(told, (list, tuple)) else ():
        match part:
            case [int(start), int(end), str(codes)] if (parts[-1][1] if parts else 0) <= start < end:
                parts.append((start, end, codes))
            case _:
                pass
    return parts


def style_of(codes: str, palette: Palette) -> Style:
    """Return a look as a style on the theme's own ground, or on the one that the codes name."""
    numbers = codes.split(";")
    on: set[str] = set()
    ink = ground = None
    at = 0
    while at < len(numbers):
        number = numbers[at]
        if number in ("38", "48"):
            color, at = _extended(numbers, at + 1)
        else:
            color, at = _named(number), at + 1
        if color is None:
            on.add(number)
        elif number in ("38",) or number[0] in "39":
            ink = color
        else:
            ground = color
    switches = Style(
        bold="1" in on or None,
        italic="3" in on or None,
        underline="4" in on or None,
        strike="9" in on or None,
    )
    if "7" in on:
        return switches + _reversed(ink, ground, palette)
    if "2" in on and ink is None and ground is None:
        return switches + palette.muted
    return switches + _colored(ink, ground, palette)


def _extended(numbers: Sequence[str], at: int) -> tuple[Color | None, int]:
    match numbers[at:]:
        case ["5", number, *_] if _is_byte(number):
            return Color.from_ansi(int(number)), at + 2
        case ["2", red, green, blue, *_] if all(map(_is_byte, (red, green, blue))):
            return Color.from_rgb(int(red), int(green), int(blue)), at + 4
        case _:
            return None, len(numbers)


def _named(number: str) -> Color | None:
    if not _is_byte(number) or len(number) < 2 or number[-1] > "7":
        return None
    bright = 8 if number[:-1] in ("9", "10") else 0
    return Color.from_ansi(bright + int(number[-1])) if number[:-1] in ("3", "4", "9", "10") else None


def _is_byte(number: str) -> bool:
    return number.isascii() and number.isdigit() and len(number) <= 3 and int(number) <= 255


def _colored(ink: Color | None, ground: Color | None, palette: Palette) -> Style:
    own_ground = _rgb(palette.base.bgcolor)
    if own_ground is None:
        return _on_unknown(ink, ground)
    if ground is None:
        named = _own_ink(ink, palette)
        return named if named is not None else _of(readable(_triplet(ink), own_ground) if ink else None)
    words = _triplet(ink) if ink else _rgb(palette.base.color) or BLACK
    return _of(readable(words, _triplet(ground)), _triplet(ground))


def _on_unknown(ink: Color | None, ground: Color | None) -> Style:
    """Return a look on the terminal's own ground: its sixteen colours are its own, others must fit on any."""
    is_named = ink is None or (ink.triplet is None and (ink.number or 0) < NAMED_COLORS)
    if ground is None and ink is not None and not is_named:
        words = _triplet(ink)
        ink = ink if min(contrast(words, BLACK), contrast(words, WHITE)) >= VISIBLE else None
    return Style(color=ink, bgcolor=ground)


def _reversed(ink: Color | None, ground: Color | None, palette: Palette) -> Style:
    if _rgb(palette.base.bgcolor) is None:
        return Style(color=ink, bgcolor=ground, reverse=True)
    words = _own_ink(ink, palette)
    swapped = words.color if words is not None else ink or palette.base.color
    return _colored(ground or palette.base.bgcolor, swapped, palette)


def _own_ink(ink: Color | None, palette: Palette) -> Style | None:
    """Return the theme's ink of one of the sixteen named colours."""
    if ink is None or ink.number is None or ink.number >= NAMED_COLORS or ink.type == ColorType.TRUECOLOR:
        return None
    inks: Mapping[int, Style] = {
        0: palette.muted,
        1: palette.error,
        2: palette.success,
        3: palette.warning,
        4: palette.accent,
        5: palette.thinking,
        6: palette.user,
        7: palette.base,
    }
    return Style(color=inks[ink.number % 8].color)


def _rgb(color: Color | None) -> Rgb | None:
    return _triplet(color) if color is not None and color.triplet is not None else None


def _triplet(color: Color) -> Rgb:
    red, green, blue = color.get_truecolor()
    return red, green, blue


def _of(ink: Rgb | None, ground: Rgb | None = None) -> Style:
    return Style(
        color=Color.from_rgb(*ink) if ink else None, bgcolor=Color.from_rgb(*ground) if ground else None
    )


__all__ = ["ShellColors", "parts_of", "style_of"]
