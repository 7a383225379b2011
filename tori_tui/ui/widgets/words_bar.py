"""One line in which the user types what is looked for, with what came of it behind.

Must not look for anything; it tells what was typed.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static


class WordsBar(Horizontal):
    """Shown while the user types; an heir names the keys, and messages of its own.

    Args:
        mark: Stands before the words.
        hint: Stands where there are none.
    """

    DEFAULT_CSS = """
    WordsBar { height: 1; display: none; }
    WordsBar > Input { width: 1fr; }
    WordsBar > Static { width: auto; height: 1; }
    """

    class Changed(Message):
        """Something else is looked for."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Stepped(Message):
        """The user wants the next (1) or the previous (-1) of what was found."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The user is done."""

    def __init__(self, mark: str, hint: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._mark = mark
        self.input = Input(placeholder=hint, classes="words")
        # A blinking cursor would keep an idle terminal busy.
        self.input.cursor_blink = False
        self._told = Static(classes="told", markup=False)

    def compose(self) -> ComposeResult:
        """Lay the line out."""
        yield Static(f" {self._mark} ", markup=False)
        yield self.input
        yield self._told

    @property
    def words(self) -> str:
        """What is looked for."""
        return self.input.value

    def tell(self, text: str) -> None:
        """Say what came of it."""
        self._told.update(Content(f" {text} "))

    def on_input_changed(self, message: Input.Changed) -> None:
        """Look for what was typed so far."""
        message.stop()
        self.post_message(self.Changed(message.value))

    def action_step(self, step: int) -> None:
        """Go to another of what was found."""
        self.post_message(self.Stepped(step))

    def action_close(self) -> None:
        """Close it; what was found stays as it is shown."""
        self.display = False
        self.post_message(self.Closed())


__all__ = ["WordsBar"]
