"""Every key, drawn from the registry of actions.

Must not list a key of its own.
"""

from __future__ import annotations

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tori_tui.ui.actions import SCOPE_TITLES, Action, Scope, actions_of, shown_keys
from tori_tui.ui.palette import Palette
from tori_tui.ui.slash import SLASH_HELP

KEY_CELLS: Final = 30

LEGEND: Final = (
    ("○ ▶ ✓ ✗", "goal pending, in work, done, given up"),
    ("◇ ◆", "the goal has a check; it was green"),
    ("▸ ▾", "folded, unfolded: Enter, Ctrl+O or a click"),
    ("⟳ ? ✗ ⊘", "call runs, asks, failed, was denied"),
)


class HelpScreen(ModalScreen[None]):
    """A list of keys over the session."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,question_mark,enter", "dismiss", "Close", show=False),
    ]

    def __init__(self, palette: Palette, scopes: tuple[Scope, ...]) -> None:
        super().__init__()
        self._palette = palette
        self._scopes = scopes

    def compose(self) -> ComposeResult:
        """Show the list."""
        box = VerticalScroll(Static(self._text()), id="help")
        box.border_title = Content("Keys · Esc closes")
        yield box

    def _text(self) -> Text:
        text = Text()
        for scope in self._scopes:
            text.append(f"{SCOPE_TITLES[scope]}\n", "bold")
            for action in actions_of(scope):
                if action.keys:
                    text.append_text(self._line(action))
            text.append("\n")
        text.append("Commands\n", "bold")
        for form in SLASH_HELP.values() if "input" in self._scopes else ():
            command, _, meaning = form.partition(": ")
            text.append(f"  {command}", self._palette.accent)
            text.append(f"  {meaning}\n")
        text.append("\n")
        text.append("Marks\n", "bold")
        for marks, meaning in LEGEND:
            text.append(f"  {marks:<{KEY_CELLS}}", self._palette.accent)
            text.append(f"{meaning}\n")
        return text

    def _line(self, action: Action) -> Text:
        keys = f"  {shown_keys(action):<{KEY_CELLS}}"
        slash = f"  /{action.slash}" if action.slash else ""
        return Text.assemble((keys, self._palette.accent), action.title, (slash, self._palette.muted), "\n")


__all__ = ["HelpScreen"]
