"""A line for what goals are looked for by: words of their titles, `is:STATE`.

Must not look for them; it tells what was typed, and shows how many were found.
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
from tori_tui.ui.goal_filter import STATES, read_filter


class GoalFilterBar(Horizontal):
    """Shown while the user types a filter."""

    DEFAULT_CSS = """
    GoalFilterBar { height: 1; display: none; }
    GoalFilterBar > Input { width: 1fr; }
    GoalFilterBar > Static { width: auto; height: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("filter")

    class Changed(Message):
        """Other goals are looked for."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Stepped(Message):
        """The user wants the cursor on the next goal (1) or the last (-1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The user is done; the filter stays."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._input = Input(placeholder="words of a goal, is:open is:failed …", id="filter-words")
        # A blinking cursor would keep an idle terminal busy.
        self._input.cursor_blink = False
        self._told = Static(id="filter-told", markup=False)

    def compose(self) -> ComposeResult:
        """Lay the line out."""
        yield Static(" goals / ", markup=False)
        yield self._input
        yield self._told

    def open(self, text: str) -> None:
        """Take what is typed."""
        self.display = True
        self._input.value = text
        self._input.focus()

    def show(self, n_found: int) -> None:
        """Say how many goals fit."""
        self._told.update(Content(f" {told(self._input.value, n_found)} "))

    def on_descendant_blur(self) -> None:
        """Close it where the user has gone on elsewhere; a terminal without the focus changes nothing."""
        self.call_after_refresh(self._close_unless_used)

    def _close_unless_used(self) -> None:
        if self.is_attached and self.screen.focused not in (None, self._input):
            self.display = False

    def on_input_changed(self, message: Input.Changed) -> None:
        """Look for what was typed so far."""
        message.stop()
        self.post_message(self.Changed(message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on in what was found."""
        message.stop()
        self.action_keep()

    def action_step(self, step: int) -> None:
        """Move the cursor in the tree."""
        self.post_message(self.Stepped(step))

    def action_keep(self) -> None:
        """Close it; the filter stays."""
        self.display = False
        self.post_message(self.Closed())

    def action_drop(self) -> None:
        """Close it and show all goals."""
        self._input.value = ""
        self.post_message(self.Changed(""))
        self.action_keep()


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
