"""Text to lines of a width: wrapping, prefixes, padding, bounds.

Must not know blocks; `markdown` and `layout` are made of these.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len, get_character_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from tori_tui.render.file_links import places_in
from tori_tui.render.safe_text import safe_text

TAB_CELLS: Final = 4

GUTTER_CELLS: Final = 2
"""Every block has its mark in the first cell; text starts at the third."""

INDENT: Final = Text(" " * GUTTER_CELLS)

RESULT_LIMIT_LINES: Final = 400

PREVIEW_LINES: Final = 4
"""Of a running or failed command's output, and of thinking that still goes on."""

PREVIEW_LIMIT_CHARS: Final = 4_000

BAR_CELLS: Final = 1
"""At the right of each line of the transcript, for the scroll bar."""

LINE_LIMIT_CHARS: Final = 2_000
"""Of one line of shown text; a minified file or a megabyte on one line is cut here and says so."""

_PLACE: Final = Style(underline=True)

_CONSOLE: Final = Console(
    file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80, legacy_windows=False
)
"""Rich needs one to resolve styles; nothing is ever printed on it."""


def bounded(text: str, limit_lines: int, *, keep_tail: bool = False) -> tuple[str, int]:
    """Return at most so many lines, each at most `LINE_LIMIT_CHARS`, and how many lines were left out.

    Only what is shown is looked at: a text may have megabytes on one line.

    Args:
        text: Any text.
        limit_lines: Most lines of the result.
        keep_tail: Keep the last lines rather than the first.
    """
    n_lines = text.count("\n") + 1
    if n_lines <= limit_lines:
        lines = text.split("\n")
    elif keep_tail:
        lines = text.rsplit("\n", limit_lines)[1:]
    else:
        lines = text.split("\n", limit_lines)[:limit_lines]
    return "\n".join(cut_line(line) for line in lines), max(0, n_lines - limit_lines)


def cut_line(line: str) -> str:
    """Return a line as much of it as is shown, and how much is not."""
    if len(line) <= LINE_LIMIT_CHARS:
        return line
    return f"{line[:LINE_LIMIT_CHARS]} … {len(line) - LINE_LIMIT_CHARS:,} more characters"


def shown(text: str) -> str:
    """Return text from outside as it may be drawn: nothing steers the terminal, tabs are blanks."""
    return safe_text(text).expandtabs(TAB_CELLS)


def wrapped(text: Text, width: int) -> list[Text]:
    """Return the text's lines, none wider than the width."""
    if "\n" not in text.plain and cell_len(text.plain) <= width:
        return [text]
    return list(text.wrap(_CONSOLE, max(1, width), overflow="fold", tab_size=TAB_CELLS))


def folded(text: Text, width: int) -> list[Text]:
    """Return the text's rows, broken behind a word near the width's end, else wherever it ends.

    Of code every cell counts, so that no more than a third of a row is left free.
    """
    if cell_len(text.plain) <= width:
        return [text]
    sizes = [get_character_cell_size(character) for character in text.plain]
    breaks: list[int] = []
    start = cells = place = 0
    while place < len(sizes):
        cells += sizes[place]
        if cells <= max(2, width):
            place += 1
            continue
        start = place = _break_before(text.plain, start, place)
        breaks.append(place)
        cells = 0
    return list(text.divide(breaks))


def _break_before(plain: str, start: int, place: int) -> int:
    """Return the last place at which no word is broken; the given one where that leaves too much free."""
    for back in range(place, start + (place - start) * 2 // 3, -1):
        if not (_is_of_word(plain[back - 1]) and _is_of_word(plain[back])):
            return back
    return place


def _is_of_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def with_places(line: Text) -> Text:
    """Return the line with every place in a file underlined, since a click opens it."""
    for found in places_in(line.plain):
        line.stylize(_PLACE, found.start, found.end)
    return line


def prefixed(lines: Iterable[Text], first: Text, rest: Text) -> list[Text]:
    """Put one text before the first line and another before every further one."""
    return [Text.assemble(rest if index else first, line) for index, line in enumerate(lines)]


def strip_of(line: Text, width: int, ground: Style) -> Strip:
    """Return a line as a strip of exactly that width, cut or padded on the given ground."""
    # Rich leaves the style of a text without spans to its console.
    base = ground + line.style if isinstance(line.style, Style) else ground
    segments = _side_by_side(line, base)
    if segments is None:
        segments = [
            Segment(segment.text, base + segment.style if segment.style else base)
            for segment in line.render(_CONSOLE, end="")
        ]
    return Strip(segments).adjust_cell_length(width, ground)


def _side_by_side(line: Text, base: Style) -> list[Segment] | None:
    """Return the pieces of a line whose styles stand beside each other or on one ground; None of others.

    Most lines are of that kind, and Rich's general way takes three times as long.
    """
    plain, spans = line.plain, line.spans
    pieces: list[tuple[int, Style]] = []
    """Where each ends, and how it looks."""
    at, ground_end, ground = 0, 0, base
    for index, (start, end, style) in enumerate(spans):
        if isinstance(style, str) or start < at:
            return None
        if ground_end <= start:
            pieces.append((ground_end, ground))
            at, ground = max(at, ground_end), base
        if start > at:
            pieces.append((start, ground))
            at = start
        if index + 1 < len(spans) and spans[index + 1].start < end:
            if at < ground_end:
                return None
            ground_end, ground = end, base + style
        elif end > start:
            if at < ground_end < end:
                return None
            pieces.append((end, ground + style))
            at = end
    pieces += [(ground_end, ground), (len(plain), base)]
    return _cut_up(plain, pieces)


def _cut_up(plain: str, pieces: list[tuple[int, Style]]) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    for end, style in pieces:
        if end > at:
            segments.append(Segment(plain[at:end], style))
            at = end
    return segments


def title_line(left: Text, right: Text, width: int) -> Text:
    """Return one line: a title cut to its room, and facts at the right edge."""
    room = width - right.cell_len - (2 if right.cell_len else 0)
    if room < width // 3:
        right, room = Text(), width
    if left.cell_len > room:
        left = left.copy()
        left.truncate(room, overflow="ellipsis")
    gap = " " * max(0, width - left.cell_len - right.cell_len)
    return Text.assemble(left, gap, right) if right.cell_len else left


__all__ = [
    "BAR_CELLS",
    "GUTTER_CELLS",
    "INDENT",
    "LINE_LIMIT_CHARS",
    "PREVIEW_LIMIT_CHARS",
    "PREVIEW_LINES",
    "RESULT_LIMIT_LINES",
    "TAB_CELLS",
    "bounded",
    "cut_line",
    "folded",
    "prefixed",
    "shown",
    "strip_of",
    "title_line",
    "with_places",
    "wrapped",
]
