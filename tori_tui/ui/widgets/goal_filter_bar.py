"""A line for what goals are looked for by: words of their titles, `is:STATE`.

Must not look for them; it tells what was typed, and shows how many were found.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tori_tui.render.amounts import counted
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.goal_filter import STATES, read_filter
from tori_tui.ui.widgets.words_bar import WordsBar


class GoalFilterBar(WordsBar):
    """Shown while the user types a filter."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("filter")

    class Changed(WordsBar.Changed):
        """Other goals are looked for."""

    class Stepped(WordsBar.Stepped):
        """The user wants the cursor on another goal."""

    class Closed(WordsBar.Closed):
        """The user is done; the filter stays."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("goals /", "words of a goal, is:open is:failed …", id=id)

    def open(self, text: str) -> None:
        """Take what is typed."""
        self.display = True
        self.input.value = text
        self.input.focus()

    def show(self, n_found: int) -> None:
        """Say how many goals fit."""
        self.tell(told(self.words, n_found))

    def on_descendant_blur(self) -> None:
        """Close it where the user has gone on elsewhere; a terminal without the focus changes nothing."""
        self.call_after_refresh(self._close_unless_used)

    def _close_unless_used(self) -> None:
        if self.is_attached and self.screen.focused not in (None, self.input):
            self.display = False

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on in what was found."""
        message.stop()
        self.action_close()

    def action_drop(self) -> None:
        """Close it and show all goals."""
        self.input.value = ""
        self.post_message(self.Changed(""))
        self.action_close()


def told(text: str, n_found: int) -> str:
    """Return in words what came of a filter.

    Example:
        >>> told("is:done", 2), told("login is:x", 0)
        ('2 goals', 'is:x is no state: open pending working done failed red checked pinned')
    """
    wanted = read_filter(text)
    if wanted.unknown:
        return f"is:{wanted.unknown[0]} is no state: {' '.join(STATES)}"
    if not wanted.words and not wanted.states:
        return "Enter keep · Esc all goals"
    return counted(n_found, "goal") if n_found else "none"


__all__ = ["GoalFilterBar", "told"]
