"""A file over the session, at a line.

Must not read the file nor change it; it is given the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.block_page import BlockPage
from tori_tui.ui.transcript.blocks import FileBlock


class FilePage(BlockPage):
    """One file; ends with `editor` where the user wants it there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "dismiss('editor')", "In $EDITOR", show=False, priority=True)
    ]

    def __init__(
        self, palette: Palette, path: str, text: str, line: int, *, clock: Callable[[], float]
    ) -> None:
        self._line = line
        title = f"{path}:{line}" if line else path
        super().__init__(
            palette, title, FileBlock(path, text, line), clock=clock, told="e in $EDITOR · Esc closes"
        )

    def on_mount(self) -> None:
        """Begin at the line."""
        super().on_mount()
        self.call_after_refresh(self.page.show_line, self._line - 1)


__all__ = ["FilePage"]
