"""What holds the panes: grounds that cost nothing while what stands on them is drawn.

Must not know what stands on them.
"""

from __future__ import annotations

from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip


class Body(Horizontal):
    """Panes side by side, which leave no cell of it free."""

    BLANK = True


class Frame(Vertical):
    """A border and a title around one pane that fills it."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a part; what the pane covers is not drawn."""
        inner = Region.from_offset(self.gutter.top_left, self.content_size)
        if inner.contains_region(crop):
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)


__all__ = ["Body", "Frame"]
