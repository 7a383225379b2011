"""Rows of words as columns below each other.

Must not cut what somebody may want to read in full; who calls it says which column may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

GAP: Final = "  "

LAST_LEAST_CELLS: Final = 30
"""With less room beside the other columns, the last one goes below them."""

Row = tuple[str, ...]


def aligned(rows: Sequence[Row]) -> list[str]:
    """Return rows as lines whose columns begin below each other, however wide their letters are."""
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [GAP.join(map(_padded, row, widths)).rstrip() for row in rows]


def cut(rows: Sequence[Row], width: int) -> list[str]:
    """Return rows as lines no wider than a terminal: the last column is cut, or goes below the others."""
    facts, room = _all_but_last(rows, width)
    if room >= LAST_LEAST_CELLS:
        lines = [_padded(line, width - room) + row[-1] for line, row in zip(facts, rows, strict=True)]
    else:
        lines = [part for line, row in zip(facts, rows, strict=True) for part in (line, GAP + row[-1])]
    return [_cut(line, width).rstrip() for line in lines]


def wrapped(rows: Sequence[Row], width: int) -> list[str]:
    """Return rows as lines no wider than a terminal: the last column goes on below itself."""
    facts, room = _all_but_last(rows, width)
    is_beside = room >= LAST_LEAST_CELLS
    room = room if is_beside else max(1, width - len(GAP))
    lines: list[str] = []
    for line, row in zip(facts, rows, strict=True):
        first, *rest = _wrapped(row[-1], room)
        lines += [_padded(line, width - room) + first] if is_beside else [_cut(line, width), GAP + first]
        lines += [" " * (width - room) + part for part in rest]
    return [line.rstrip() for line in lines]


def _all_but_last(rows: Sequence[Row], width: int) -> tuple[list[str], int]:
    """Return the other columns, and how many cells are left beside them."""
    facts = aligned([row[:-1] for row in rows])
    return facts, width - max(map(cell_len, facts)) - len(GAP)


def _wrapped(text: str, cells: int) -> list[str]:
    lines = Text(text).wrap(Console(width=cells, no_color=True), cells)
    return [line.plain.rstrip() for line in lines] or [""]


def _padded(text: str, cells: int) -> str:
    return text + " " * (cells - cell_len(text))


def _cut(line: str, cells: int) -> str:
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"


__all__ = ["aligned", "cut", "wrapped"]
