"""The rows of what is offered: suggestions, what is marked in more lines, a note.

Must not know keys or where the suggestions come from.
"""

from __future__ import annotations

from typing import Final

from rich.text import Text

from tori_tui.render.safe_text import safe_text
from tori_tui.ui.completing import PREVIEW_LINES, Offer
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import shown

SHOWN_CELLS: Final = 40
"""Of a form; what it means stands beside it."""


def n_offer_rows(offer: Offer, limit_rows: int) -> int:
    """Return how many rows an offer takes.

    Args:
        offer: What is offered.
        limit_rows: Of its suggestions at once.
    """
    return min(len(offer.suggestions), limit_rows) + _n_preview_rows(offer) + bool(offer.note)


def offer_row(offer: Offer, y: int, at: int, top: int, limit_rows: int, width: int, palette: Palette) -> Text:
    """Return a row of an offer.

    Args:
        offer: What is offered.
        y: Which row, from 0.
        at: Which suggestion is marked.
        top: Which one is the first in view.
        limit_rows: Of its suggestions at once.
        width: In cells.
        palette: The styles.
    """
    n_shown = min(len(offer.suggestions), limit_rows)
    if y < n_shown:
        return _suggestion(offer, top + y, top + y == at, width, palette)
    if y < n_shown + _n_preview_rows(offer):
        return _preview(offer.suggestions[at].preview, y - n_shown, width, palette)
    return Text(safe_text(offer.note), palette.muted, overflow="ellipsis")


def _n_preview_rows(offer: Offer) -> int:
    """Return the room of the longest preview, so that nothing moves from one suggestion to the next."""
    lines = (suggestion.preview.count("\n") + 1 for suggestion in offer.suggestions if suggestion.preview)
    return min(max(lines, default=0), PREVIEW_LINES)


def _preview(text: str, row: int, width: int, palette: Palette) -> Text:
    lines = text.split("\n") if text else []
    line = Text.assemble(
        ("  │ ", palette.muted), (shown(lines[row]) if row < len(lines) else "", palette.panel)
    )
    line.truncate(width, overflow="ellipsis")
    return line


def _suggestion(offer: Offer, index: int, is_marked: bool, width: int, palette: Palette) -> Text:
    suggestion = offer.suggestions[index]
    text = Text(safe_text(suggestion.shown), palette.strong if is_marked else palette.accent)
    room = width - 2
    if any(suggestion.hint for suggestion in offer.suggestions):
        # A column of its own for what explains them, as far right as the widest needs.
        column = min(max(Text(s.shown).cell_len for s in offer.suggestions), _column_limit(offer, room))
        text.truncate(column, overflow="ellipsis", pad=True)
    elif offer.token.kind == "file" and text.cell_len > room:
        text = Text(_tail(text, room), text.style)
    line = Text.assemble(("▸ " if is_marked else "  ", palette.accent), text)
    if suggestion.hint:
        line.append(f"  {safe_text(suggestion.hint)}", palette.muted)
    line.truncate(width, overflow="ellipsis", pad=True)
    if is_marked:
        line.style = palette.marked
    return line


def _column_limit(offer: Offer, room: int) -> int:
    if offer.token.kind == "history":
        hints = max(Text(suggestion.hint).cell_len for suggestion in offer.suggestions)
        return room - hints - 2
    return min(room // 2, SHOWN_CELLS)


def _tail(text: Text, room: int) -> str:
    """Return the end of a path, where its name stands."""
    plain = text.plain
    while plain and Text(plain).cell_len > room - 1:
        plain = plain[1:]
    return f"…{plain}"


__all__ = ["n_offer_rows", "offer_row"]
