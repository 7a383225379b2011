"""A question that one key answers: Enter does it, Esc leaves it.

Must not do it; it ends with the answer.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static


class ConfirmScreen(ModalScreen[bool]):
    """Asks once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "dismiss(True)", "Do it", show=False, priority=True),
        Binding("escape,n,q,ctrl+c", "dismiss(False)", "Leave it", show=False, priority=True),
    ]

    def __init__(self, title: str, question: str, deed: str) -> None:
        super().__init__()
        self._shown_title = title
        self._question = question
        self._deed = deed

    def compose(self) -> ComposeResult:
        """Show the question."""
        box = Vertical(Static(Content(self._question)), id="confirm")
        box.border_title = Content(self._shown_title)
        box.border_subtitle = Content(f"Enter {self._deed} · Esc leaves it")
        yield box


__all__ = ["ConfirmScreen"]
