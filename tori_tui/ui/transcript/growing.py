"""Lines of an answer that grows: what is settled is rendered once, only its end again and again.

Must not be trusted for a finished answer unless `is_exact`; else that is rendered whole.
"""

from __future__ import annotations

import re
from typing import Final

from rich.text import Text
from textual.strip import Strip

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.blocks import AnswerBlock
from tori_tui.ui.transcript.layout import ANSWER_LIMIT_CHARS, ANSWER_LIMIT_LINES, piece_lines
from tori_tui.ui.transcript.lines import BAR_CELLS, bounded, shown, strip_of
from tori_tui.ui.transcript.markdown import pieces_of

SETTLE_FENCE_LINES: Final = 48
"""An open code block longer than this is settled up to here; about two screens stay open."""

_OPEN_FENCE: Final = re.compile(r"( {0,3}(?:`{3,}|~{3,})[^\n]*\n)")


class GrowingLines:
    """Renders each new state of one growing text, at the cost of its last piece."""

    def __init__(self, width: int, palette: Palette) -> None:
        self.width = width
        self.palette = palette
        self._settled: list[Strip] = []
        self._settled_chars = 0
        self._source = ""
        self._reopened = ""
        """The opening line of a code block whose beginning is settled."""
        self.is_exact = True
        """Whether the lines are those of the whole text; a block settled in parts may differ in colour."""

    def fits(self, block: AnswerBlock) -> bool:
        """Say whether a finished answer looks as what has grown: nothing cut, nothing settled in parts."""
        is_whole = self.is_exact and not block.interrupted and not block.text.endswith("\n")
        is_whole = is_whole and block.text.startswith(self._source)
        return (
            is_whole and len(block.text) <= ANSWER_LIMIT_CHARS and block.text.count("\n") < ANSWER_LIMIT_LINES
        )

    def strips(self, text: str) -> list[Strip]:
        """Return the lines of the text, which must begin with the text of the call before."""
        self._source = text
        if not self._settled:
            self._settled = self._drawn([Text()])
            self._settled_chars = len(text) - len(text.lstrip("\n"))
        pieces = pieces_of(self._reopened + text[self._settled_chars :])
        for piece in pieces[:-1]:
            self._settle(piece, piece)
        last = pieces[-1] if pieces else ""
        last = self._settle_fence(last)
        return self._settled + self._rendered(last)

    def _settle_fence(self, piece: str) -> str:
        opening = _OPEN_FENCE.match(piece)
        if opening is None or piece.count("\n") <= SETTLE_FENCE_LINES * 2:
            return piece
        lines = piece.splitlines(keepends=True)
        head = "".join(lines[:SETTLE_FENCE_LINES])
        self._settle(head, head.rstrip("\n"))
        self._reopened = opening.group(1)
        self.is_exact = False
        return self._reopened + "".join(lines[SETTLE_FENCE_LINES:])

    def _settle(self, source: str, shown_piece: str) -> None:
        self._settled += self._rendered(shown_piece)
        self._settled_chars += len(source) - len(self._reopened)
        self._reopened = ""

    def _rendered(self, piece: str) -> list[Strip]:
        kept, _ = bounded(piece, ANSWER_LIMIT_LINES)
        return self._drawn(piece_lines(shown(kept), self.width, self.palette))

    def _drawn(self, lines: list[Text]) -> list[Strip]:
        return [strip_of(line, self.width + BAR_CELLS, self.palette.base) for line in lines]


__all__ = ["GrowingLines"]
