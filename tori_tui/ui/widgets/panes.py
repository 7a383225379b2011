"""What holds the panes, and pictures that are kept: what does not change costs nothing in a frame.

Must not know what is shown.
"""

from __future__ import annotations

from typing import Self

from textual.containers import Horizontal, Vertical
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


class Kept(Widget):
    """Keeps its picture until it is refreshed.

    Textual asks every widget of the screen for its lines when one of them changes, and puts them
    together anew from what it has cached.
    """

    _picture: tuple[Region, Size, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a part."""
        if self._picture is None or self._picture[:2] != (crop, self.outer_size):
            self._picture = (crop, self.outer_size, super().render_lines(crop))
        return self._picture[2]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Draw anew."""
        self._picture = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class Body(Horizontal):
    """Panes side by side, which leave no cell of it free."""

    BLANK = True


class Frame(Kept, Vertical):
    """A border and a title around what fills it."""


__all__ = ["Body", "Frame", "Kept"]
