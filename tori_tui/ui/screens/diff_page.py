"""A diff over the session: scrolled, selected and copied as the conversation is.

Must not compute a diff; it is given one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.block_list import Change
from tori_tui.ui.transcript.blocks import DiffBlock
from tori_tui.ui.widgets.transcript import Transcript


class DiffPage(ModalScreen[None]):
    """One diff with a title."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d", "dismiss", "Close", show=False),
        Binding("ctrl+c", "copy", "Copy", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, title: str, diff: str, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._shown_title = title
        self._block = DiffBlock(diff)
        self.page = Transcript(palette, clock=clock)

    def compose(self) -> ComposeResult:
        """Show the diff."""
        box = Vertical(self.page, id="diff")
        box.border_title = Content(self._shown_title)
        box.border_subtitle = Content("Esc closes")
        yield box

    def on_mount(self) -> None:
        """Begin at its start."""
        self.page.focus()
        self.page.show([Change(1, self._block)])
        self.page.action_to_start()

    def action_copy(self) -> None:
        """Copy the selection, else close."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        else:
            self.dismiss(None)


__all__ = ["DiffPage"]
