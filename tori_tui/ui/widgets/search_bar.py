"""A line for the words that are looked for in the conversation.

Must not search; it tells what was typed, and shows what was found.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tori_tui.render.amounts import counted
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.transcript.finding import Found
from tori_tui.ui.widgets.words_bar import WordsBar


class SearchBar(WordsBar):
    """Shown while the user looks for something; its last words wait for the next time."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("search")

    class Changed(WordsBar.Changed):
        """Other words are looked for."""

    class Stepped(WordsBar.Stepped):
        """The user wants another hit."""

    class Closed(WordsBar.Closed):
        """The user is done; the hits stay marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("/", "words to look for", id=id)
        self._has_found = False

    def open(self) -> None:
        """Take what is typed."""
        self.display = True
        self.input.focus()
        self.input.action_select_all()

    def show(self, found: Found) -> None:
        """Say how many hits there are."""
        self._has_found = found.n_blocks > 0
        self.tell(told(found))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on in the conversation, where something was found."""
        message.stop()
        if self._has_found:
            self.action_close()


def told(found: Found) -> str:
    """Return the count in words."""
    if not found.words:
        return "↑ earlier · ↓ later · Enter: n N go on"
    if not found.n_blocks:
        return "nowhere"
    return f"{found.at} of {counted(found.n_blocks, 'place')} · {counted(found.n_hits, 'hit')}"


__all__ = ["SearchBar", "told"]
