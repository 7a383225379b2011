"""A file to lines with their numbers: one row a line, so that a line is found by its number.

Must not wrap; what does not fit is cut, visibly.
"""

from __future__ import annotations

from typing import Final

from rich.text import Text

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.blocks import FileBlock
from tori_tui.ui.transcript.code import highlighted, language_of
from tori_tui.ui.transcript.lines import bounded, shown

FILE_LIMIT_LINES: Final = 20_000


def file_lines(block: FileBlock, width: int, palette: Palette) -> list[Text]:
    """Return a file's lines in colours, the one that was asked for marked."""
    kept, n_left_out = bounded(block.text.removesuffix("\n"), FILE_LIMIT_LINES)
    code = highlighted(shown(kept), language_of(block.path), palette)
    digits = len(str(len(code)))
    lines = [_row(line, number, digits, width, palette) for number, line in enumerate(code, 1)]
    if 0 < block.line <= len(lines):
        row = _row(code[block.line - 1], block.line, digits, width, palette, mark="▶")
        row.append(" " * max(0, width - row.cell_len))
        row.stylize_before(palette.marked)
        lines[block.line - 1] = row
    return lines + ([Text(f"… {n_left_out:,} more lines", palette.warning)] if n_left_out else [])


def _row(code: Text, number: int, digits: int, width: int, palette: Palette, mark: str = " ") -> Text:
    row = Text.assemble((mark, palette.accent), (f"{number:>{digits}} ", palette.muted), code)
    row.truncate(width, overflow="ellipsis")
    return row


__all__ = ["file_lines"]
