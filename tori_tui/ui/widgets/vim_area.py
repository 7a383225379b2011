"""A text area for those who want vim's keys; without them it is as any other.

Must not know what the text is for.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from tori_tui.ui.vim import Place, Vim
from tori_tui.ui.widgets.chip_area import ChipArea


class VimArea(ChipArea):
    """Holds the mode and tells it."""

    class ModeTold(Message):
        """The mode of vim's keys, or how far a command was typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, has_vim_keys: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._vim = Vim(_Written(self)) if has_vim_keys else None

    @property
    def is_normal_mode(self) -> bool:
        """Whether keys are commands."""
        return self._vim is not None and not self._vim.is_insert

    @property
    def vim_mode(self) -> str:
        """The mode in words; empty without vim's keys."""
        return self._vim.told if self._vim is not None else ""

    def take_for_vim(self, event: events.Key) -> bool:
        """Take a key that is vim's; False leaves it to others."""
        if self._vim is None:
            return False
        is_taken = self._vim.press(event.key, event.character)
        if is_taken:
            self.post_message(self.ModeTold(self._vim.told))
        return is_taken

    def write_on(self) -> None:
        """Begin in insert mode."""
        if self._vim is not None and not self._vim.is_insert:
            self._vim.insert()
            self.post_message(self.ModeTold(self._vim.told))


class _Written:
    """The text of an area, as vim's keys reach it."""

    def __init__(self, area: ChipArea) -> None:
        self._area = area

    @property
    def lines(self) -> Sequence[str]:
        return self._area.document.lines

    @property
    def place(self) -> Place:
        return self._area.cursor_location

    def go(self, place: Place) -> None:
        self._area.move_cursor(place)

    def beside(self, by: int) -> Place:
        area = self._area
        return area.get_cursor_right_location() if by > 0 else area.get_cursor_left_location()

    def cut(self, start: Place, end: Place) -> str:
        return self._area.cut(start, end)

    def put(self, text: str, place: Place) -> None:
        self._area.history.checkpoint()
        self._area.move_cursor(self._area.insert(text, place).end_location)
        self._area.history.checkpoint()

    def take_back(self) -> None:
        self._area.undo()

    def do_again(self) -> None:
        self._area.redo()


__all__ = ["VimArea"]
