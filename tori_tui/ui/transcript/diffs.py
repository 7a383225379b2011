"""Unified diffs to lines with line numbers and grounds.

Must not compute a diff; tools do, from the bytes before and after.
"""

from __future__ import annotations

import re
from typing import Final

from rich.style import Style
from rich.text import Text

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import shown, wrapped

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")

_FILE: Final = re.compile(r"^--- .*\n\+\+\+ .*\n@@ ", re.MULTILINE)


def diff_lines(diff: str, width: int, palette: Palette, *, has_names: bool = False) -> list[Text]:
    """Return a unified diff as lines of that width.

    Args:
        diff: The diff.
        width: Cells of a line.
        palette: Styles.
        has_names: Name the file even where there is only one.
    """
    lines: list[Text] = []
    old = new = 0
    n_old = n_new = 0
    has_hunk = False
    old_name = ""
    digits = _digits(diff)
    n_files = len(_FILE.findall(diff))
    for line in shown(diff).removesuffix("\n").split("\n"):
        sign, text = line[:1], line[1:]
        if hunk := _HUNK.match(line):
            old, new = int(hunk.group(1)), int(hunk.group(3))
            n_old, n_new = int(hunk.group(2) or 1), int(hunk.group(4) or 1)
            if has_hunk:
                lines.append(Text(" " * digits + " ⋮" + hunk.group(5), palette.hunk))
            has_hunk = True
        elif sign == "+" and n_new > 0:
            lines.extend(_row(new, "+", text, digits, width, palette.added))
            new, n_new = new + 1, n_new - 1
        elif sign == "-" and n_old > 0:
            lines.extend(_row(old, "-", text, digits, width, palette.removed))
            old, n_old = old + 1, n_old - 1
        elif sign == "\\":
            lines.append(Text(" " * digits + "   " + text.strip(), palette.muted))
        elif n_old > 0 or n_new > 0:
            lines.extend(_row(new, " ", text, digits, width, Style.null()))
            old, new, n_old, n_new = old + 1, new + 1, n_old - 1, n_new - 1
        elif line.startswith("--- "):
            old_name = line[4:].removeprefix("a/")
        elif line.startswith("+++ ") and (has_names or n_files > 1):
            name = line[4:].removeprefix("b/")
            lines += [Text()] if lines else []
            lines.append(Text(f"{old_name} (gone)" if name == "/dev/null" else name, palette.strong))
            has_hunk = False
    return lines


def _row(number: int, sign: str, text: str, digits: int, width: int, style: Style) -> list[Text]:
    head = f"{number:>{digits}} {sign} "
    rows = []
    for index, part in enumerate(wrapped(Text(text), width - len(head))):
        start = head if index == 0 else " " * len(head)
        padding = " " * max(0, width - len(start) - part.cell_len)
        rows.append(Text(f"{start}{part.plain}{padding}", style))
    return rows


def _digits(diff: str) -> int:
    """Return the width of the largest line number, roughly: its hunk's start and the diff's length."""
    starts = [max(int(hunk.group(1)), int(hunk.group(3))) for hunk in _HUNK.finditer(diff)]
    return len(str(max(starts, default=0) + min(diff.count("\n"), 999)))


__all__ = ["diff_lines"]
