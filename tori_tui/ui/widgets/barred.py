"""A scroll bar that a widget draws itself in its last column, for the mouse to take.

Must not know what is scrolled.
"""

from __future__ import annotations

from textual import events
from textual.widget import Widget

from tori_tui.ui.transcript.lines import BAR_CELLS


class Barred(Widget):
    """Moves the thumb by the mouse; what the mouse begins on the bar is no selection."""

    _grip: int | None = None
    """The row of the thumb that the mouse holds."""

    def bar_thumb(self) -> tuple[int, int] | None:
        """Return the thumb's (start, size) in rows, or None where there is no bar."""
        raise NotImplementedError

    def move_thumb(self, row: int) -> None:
        """Show what the bar stands for when its thumb begins at a row."""
        raise NotImplementedError

    @property
    def allow_select(self) -> bool:
        """Whether what the mouse begins here is a selection."""
        return super().allow_select and not self.is_bar(self.app.mouse_position.x - self.region.x)

    def is_bar(self, x: int) -> bool:
        """Say whether a column is the bar's."""
        return x >= self.size.width - BAR_CELLS and self.bar_thumb() is not None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the bar; a press beside its thumb brings the thumb there."""
        thumb = self.bar_thumb()
        if thumb is None or not self.is_bar(event.x):
            return
        event.stop()
        start, size = thumb
        self._grip = event.y - start if start <= event.y < start + size else size // 2
        self.capture_mouse()
        self.move_thumb(event.y - self._grip)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Draw the thumb along."""
        if self._grip is not None:
            self.move_thumb(event.y - self._grip)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let the bar go."""
        if self._grip is not None:
            self._grip = None
            self.release_mouse()


__all__ = ["Barred"]
