"""The themes in a list: the one under the cursor is shown at once, in everything behind the list.

Must not read or apply a theme; it tells which is wanted, and the app does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tori_tui.render.safe_text import one_line
from tori_tui.ui.messages import ThemeTried


class ThemesScreen(ModalScreen[str | None]):
    """Ends with the name that was kept, or None where the first one came back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "back", "Back", show=False, priority=True),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]

    def __init__(self, names: Sequence[str], now: str) -> None:
        super().__init__()
        self._names = tuple(names)
        self._first = self._tried = now
        self._list = OptionList(*(Option(Content(self._line(name))) for name in self._names), id="themes")

    def _line(self, name: str) -> str:
        return f"{'●' if name == self._first else ' '} {one_line(name, 40)}"

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        self._list.border_title = Content("Themes")
        self._list.border_subtitle = Content("Enter keeps · Esc back")
        yield self._list

    def on_mount(self) -> None:
        """Begin at the theme in use."""
        self._list.highlighted = self._names.index(self._first) if self._first in self._names else 0
        self._list.focus()

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        """Show the theme under the cursor."""
        self._try(self._names[message.option_index])

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Keep it."""
        self.dismiss(self._names[message.option_index])

    def action_move(self, step: int) -> None:
        """Mark the next or the last one."""
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    def action_back(self) -> None:
        """Take the first one again."""
        self._try(self._first)
        self.dismiss(None)

    def _try(self, name: str) -> None:
        if name != self._tried:
            self._tried = name
            self.post_message(ThemeTried(name))


__all__ = ["ThemesScreen"]
