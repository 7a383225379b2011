"""Unified diffs to lines with line numbers, marks and grounds: one below the other, or side by side.

Must not compute a diff; tools do, from the bytes before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, Literal

from rich.style import Style
from rich.text import Text

from tori_tui.render.diff_parts import (
    DiffLine,
    FileDiff,
    Hunk,
    LineKind,
    Span,
    changed_parts,
    pairs_of,
    parsed_diff,
)
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import folded, shown

DiffForm = Literal["auto", "unified", "side"]
"""How a diff is shown: as its width suggests, one below the other, or side by side."""

WIDE_CELLS: Final = 120
"""From here on two columns have room for lines of fifty characters."""

MIN_SIDE_CELLS: Final = 60
"""Below this two columns show nothing, whoever wants them."""

GAP: Final = " │ "

CONTINUES: Final = "↳"
"""In the place of the mark, where a line goes on."""

_SIGNS: Final[dict[LineKind, str]] = {"added": "+", "removed": "-", "same": " ", "note": " "}

_CHANGED: Final = Style(bold=True, underline=True)
"""Of changed words; without a colour, so that they can be read on every ground."""


def diff_lines(
    diff: str, width: int, palette: Palette, *, has_names: bool = False, form: DiffForm = "auto"
) -> list[Text]:
    """Return a unified diff as lines of that width.

    Args:
        diff: The diff.
        width: Cells of a line.
        palette: Styles.
        has_names: Name the file even where there is only one.
        form: How it is to be shown.
    """
    files = parsed_diff(shown(diff))
    writer = _Writer(width, palette, max((len(str(file.last_number)) for file in files), default=1))
    lines: list[Text] = []
    for file in files:
        if has_names or len(files) > 1:
            lines += [Text()] if lines else []
            lines.append(Text(file.name, palette.strong))
        lines += [Text(note, palette.muted) for note in file.notes]
        for index, hunk in enumerate(file.hunks):
            lines += [writer.heading(hunk)] if index else []
            lines += writer.side_by_side(hunk) if is_side(file, width, form) else writer.unified(hunk)
    return lines


def is_side(file: FileDiff, width: int, form: DiffForm) -> bool:
    """Say whether a file's diff is shown side by side: not where one side would be empty."""
    if not is_wide_enough(width, form):
        return False
    kinds = {line.kind for hunk in file.hunks for line in hunk.lines}
    return {"added", "removed"} <= kinds or "same" in kinds


def is_wide_enough(width: int, form: DiffForm) -> bool:
    """Say whether diffs are shown side by side in that width."""
    return form != "unified" and width >= (WIDE_CELLS if form == "auto" else MIN_SIDE_CELLS)


class _Writer:
    """Writes lines of one width; its only state are the sizes."""

    def __init__(self, width: int, palette: Palette, digits: int) -> None:
        self._width = width
        self._palette = palette
        self._digits = digits

    def heading(self, hunk: Hunk) -> Text:
        """Return what stands between two places."""
        return Text(f"{' ' * self._digits} ⋮ {hunk.heading}".rstrip(), self._palette.hunk)

    def unified(self, hunk: Hunk) -> Iterator[Text]:
        """Return the lines of a place one below the other."""
        emphasis = _emphasis_of(hunk.lines)
        for index, line in enumerate(hunk.lines):
            yield from self._rows(line, line.new or line.old, self._width, emphasis.get(index))

    def side_by_side(self, hunk: Hunk) -> Iterator[Text]:
        """Return the lines of a place, the old at the left and the new at the right."""
        half = (self._width - len(GAP)) // 2
        rest = " " * (self._width - len(GAP) - 2 * half)
        for left, right in pairs_of(hunk.lines):
            parts = None
            if left and right and left.kind == "removed" and right.kind == "added":
                parts = changed_parts(left.text, right.text)
            lefts = self._rows(left, left.old, half, parts and parts[0]) if left else []
            rights = self._rows(right, right.new, half, parts and parts[1]) if right else []
            for one, other in zip_longest(lefts, rights):
                yield Text.assemble(
                    one if one is not None else " " * half,
                    (GAP, self._palette.border),
                    other if other is not None else " " * half,
                    rest,
                )

    def _rows(self, line: DiffLine, number: int, width: int, emphasis: Span | None) -> list[Text]:
        """Return a line with its number and its mark, on as many rows as it takes."""
        style = {"added": self._palette.added, "removed": self._palette.removed}.get(
            line.kind, self._palette.muted if line.kind == "note" else Style.null()
        )
        head = f"{number or '':>{self._digits}} {_SIGNS[line.kind]} "
        text = Text(line.text)
        if emphasis:
            text.stylize(_CHANGED, *emphasis)
        rows = []
        for index, part in enumerate(folded(text, width - len(head))):
            start = f"{' ' * self._digits} {CONTINUES} " if index else head
            padding = " " * max(0, width - len(start) - part.cell_len)
            row = Text(f"{start}{part.plain}{padding}", style)
            for span in part.spans:
                row.stylize(span.style, span.start + len(start), span.end + len(start))
            rows.append(row)
        return rows


def _emphasis_of(lines: Sequence[DiffLine]) -> dict[int, Span]:
    """Return the changed words of each line that answers another, by the line's place."""
    places = {id(line): index for index, line in enumerate(lines)}
    found: dict[int, Span] = {}
    for left, right in pairs_of(lines):
        if left is None or right is None or left is right:
            continue
        if parts := changed_parts(left.text, right.text):
            found[places[id(left)]], found[places[id(right)]] = parts
    return found


__all__ = ["MIN_SIDE_CELLS", "WIDE_CELLS", "DiffForm", "diff_lines", "is_side", "is_wide_enough"]
