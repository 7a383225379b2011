"""A line for the words that are looked for in the conversation.

Must not search; it tells what was typed, and shows what was found.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tori_tui.render.amounts import counted
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.transcript.finding import Found


class SearchBar(Horizontal):
    """Shown while the user looks for something."""

    DEFAULT_CSS = """
    SearchBar { height: 1; display: none; }
    SearchBar > Input { width: 1fr; }
    SearchBar > Static { width: auto; height: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("search")

    class Changed(Message):
        """Other words are looked for."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Stepped(Message):
        """The user wants the next (1) or the previous (-1) hit."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The user is done."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._input = Input(placeholder="words to look for", id="search-words")
        # A blinking cursor would keep an idle terminal busy.
        self._input.cursor_blink = False
        self._count = Static(id="search-count", markup=False)
        self._has_found = False

    def compose(self) -> ComposeResult:
        """Lay the line out."""
        yield Static(" / ", id="search-mark", markup=False)
        yield self._input
        yield self._count

    def open(self) -> None:
        """Take what is typed."""
        self.display = True
        self._input.focus()
        self._input.action_select_all()

    @property
    def words(self) -> str:
        """What is looked for."""
        return self._input.value

    def show(self, found: Found) -> None:
        """Say how many hits there are."""
        self._has_found = found.n_blocks > 0
        self._count.update(Content(f" {told(found)} "))

    def on_input_changed(self, message: Input.Changed) -> None:
        """Look for what was typed so far."""
        message.stop()
        self.post_message(self.Changed(message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on in the conversation, where something was found."""
        message.stop()
        if self._has_found:
            self.action_close()

    def action_step(self, step: int) -> None:
        """Go to another hit."""
        self.post_message(self.Stepped(step))

    def action_close(self) -> None:
        """Close it; the hits stay marked."""
        self.display = False
        self.post_message(self.Closed())


def told(found: Found) -> str:
    """Return the count in words."""
    if not found.words:
        return "↑ earlier · ↓ later · Enter: n N go on"
    if not found.n_blocks:
        return "nowhere"
    return f"{found.at} of {counted(found.n_blocks, 'place')} · {counted(found.n_hits, 'hit')}"


__all__ = ["SearchBar", "told"]
