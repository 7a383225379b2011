"""The comments that wait for their effect, above the input.

Must not take the focus; a click or a key of the input takes one back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.events import CommentReceived
from tori_tui.render.safe_text import one_line
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of, title_line

ROWS: Final = 3
"""At most so many; the newest ones."""

TEXT_LIMIT_CHARS: Final = 300


class WaitingList(Widget):
    """One row for each, the newest last."""

    DEFAULT_CSS = """
    WaitingList { display: none; height: auto; padding: 0 2; }
    """

    class Chosen(Message):
        """The user wants one back."""

        def __init__(self, comment: CommentReceived) -> None:
            super().__init__()
            self.comment = comment

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._comments: tuple[CommentReceived, ...] = ()

    @property
    def newest(self) -> CommentReceived | None:
        """The one that a key takes back."""
        return self._comments[-1] if self._comments else None

    def show(self, comments: Sequence[CommentReceived]) -> None:
        """Show what waits now."""
        if tuple(comments) == self._comments:
            return
        self._comments = tuple(comments)
        self.display = bool(comments)
        self.styles.height = min(len(comments), ROWS)
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Take the one under the pointer back."""
        event.stop()
        shown = self._comments[-ROWS:]
        if event.y < len(shown):
            self.post_message(self.Chosen(shown[event.y]))

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width, palette = self.size.width, self._palette
        shown = self._comments[-ROWS:]
        if y >= len(shown):
            return strip_of(Text(), width, palette.base)
        n_above = len(self._comments) - len(shown)
        left = Text.assemble(
            ("◌ ", palette.warning), (one_line(shown[y].text, TEXT_LIMIT_CHARS), palette.muted)
        )
        right = (
            "waits · ↑ takes it back"
            if y == len(shown) - 1
            else f"+{n_above} more"
            if n_above and not y
            else ""
        )
        return strip_of(title_line(left, Text(right, palette.muted), width), width, palette.base)


__all__ = ["ROWS", "WaitingList"]
