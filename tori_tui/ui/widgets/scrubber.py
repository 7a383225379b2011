"""Where a replay stands, as a bar that can be clicked.

Must not know records; it shows numbers and posts the place that was clicked.
"""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of


class Scrubber(Widget):
    """A line of time."""

    DEFAULT_CSS = """
    Scrubber { height: 1; }
    """

    class Sought(Message):
        """The user wants to see another moment."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._at, self._total, self._n_turns, self._speed = 0, 0, 0, 1
        self._is_playing = False

    def show(self, at: int, total: int, n_turns: int, speed: int, is_playing: bool) -> None:
        """Show a moment."""
        self._at, self._total, self._n_turns, self._speed = at, total, n_turns, speed
        self._is_playing = is_playing
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        palette, width = self._palette, self.size.width
        left, right = self._left(), self._right()
        room = max(1, width - len(left) - len(right))
        done = room * self._at // max(1, self._total)
        line = Text.assemble(
            (left, palette.accent),
            ("━" * done, palette.accent),
            ("─" * (room - done), palette.border),
            (right, palette.muted),
        )
        return strip_of(line, width, palette.base)

    def _left(self) -> str:
        return f" {'▶' if self._is_playing else '‖'} "

    def _right(self) -> str:
        return f" {self._at}/{self._total} · turn {self._n_turns} · {self._speed}× "

    def on_click(self, event: events.Click) -> None:
        """Go to the place that was clicked."""
        start = len(self._left())
        room = max(1, self.size.width - start - len(self._right()))
        share = max(0.0, min(1.0, (event.x - start) / room))
        self.post_message(self.Sought(round(share * self._total)))


__all__ = ["Scrubber"]
