"""One block over the session, scrolled, selected and copied as the conversation is.

Must not find out what it shows; it is given that.
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
from tori_tui.ui.transcript.blocks import Block
from tori_tui.ui.widgets.transcript import Transcript


class BlockPage(ModalScreen[str | None]):
    """A block with a title. Ends with a wish where its keys have one, else with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("ctrl+c", "copy", "Copy", show=False, priority=True),
    ]

    def __init__(
        self, palette: Palette, title: str, block: Block, *, clock: Callable[[], float], told: str
    ) -> None:
        super().__init__()
        self._shown_title = title
        self._told = told
        self._block = block
        self.page = Transcript(palette, clock=clock)

    def compose(self) -> ComposeResult:
        """Show the block."""
        box = Vertical(self.page, id="page")
        box.border_title = Content(self._shown_title)
        box.border_subtitle = Content(self._told)
        yield box

    def on_mount(self) -> None:
        """Begin at its start."""
        self.page.focus()
        self.page.show([Change(1, self._block)])
        self.page.action_to_start()

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        """Copy the block."""
        message.stop()
        self.app.copy_to_clipboard(message.text)

    def action_copy(self) -> None:
        """Copy the selection, else close."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        else:
            self.dismiss(None)


__all__ = ["BlockPage"]
