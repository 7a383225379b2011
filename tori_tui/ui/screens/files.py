"""The files that a block names: choose one.

Must not open it; it ends with the place that was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tori_tui.render.safe_text import one_line
from tori_tui.ui.file_port import FoundFile
from tori_tui.ui.palette import Palette

FilePlace = tuple[FoundFile, int]
"""A file and a line of it; 0 is none."""


class FilesScreen(ModalScreen[FilePlace | None]):
    """One place a line, in the order of the block."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f,ctrl+c", "dismiss(None)", "Close", show=False, priority=True),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]

    def __init__(self, palette: Palette, places: Sequence[FilePlace]) -> None:
        super().__init__()
        self._palette = palette
        self._places = tuple(places)
        self._list = OptionList(*(Option(self._line(*place)) for place in self._places), id="files-list")

    def compose(self) -> ComposeResult:
        """Show the list."""
        box = Vertical(self._list, id="files")
        box.border_title = Content("Files")
        box.border_subtitle = Content("Enter shows · Esc closes")
        yield box

    def on_mount(self) -> None:
        """Begin with the first."""
        self._list.highlighted = 0

    def _line(self, found: FoundFile, line: int) -> Text:
        place = one_line(found.shown) + (f":{line}" if line else "")
        text = Text(place, no_wrap=True, overflow="ellipsis")
        if not found.is_inside:
            text.append("  ! outside the work tree", self._palette.warning)
        return text

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """End with what was chosen."""
        self.dismiss(self._places[message.option_index])

    def action_move(self, step: int) -> None:
        """Mark the next or the last one."""
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()


__all__ = ["FilePlace", "FilesScreen"]
