"""Every key, drawn from the registry of actions.

Must not list a key of its own.
"""

from __future__ import annotations

from typing import ClassVar, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tori_tui.ui.actions import SCOPE_TITLES, Scope, shown_keys, told_actions
from tori_tui.ui.palette import Palette
from tori_tui.ui.slash_help import SLASH_HELP

KEYS_SHARE: Final = 2
WORDS_SHARE: Final = 3
"""What stands at the right wraps in its own column."""

LEGEND: Final = (
    ("○ ▶ ✓ ✗", "goal pending, in work, done, given up"),
    ("? ■ ⟳", "goal asks you, was stopped; its time runs"),
    ("◇ ◆ ◇!", "the goal has a check; it was green; it was red"),
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
        box = VerticalScroll(Static(self._table()), id="help")
        box.border_title = Content("Keys · Esc closes")
        yield box

    def _table(self) -> Table:
        palette = self._palette
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(ratio=KEYS_SHARE)
        table.add_column(ratio=WORDS_SHARE)
        for scope, actions in told_actions(self._scopes):
            table.add_row(Text(SCOPE_TITLES[scope], "bold"))
            for action in actions:
                if action.keys:
                    slash = f"  /{action.slash}" if action.slash else ""
                    words = Text.assemble(action.title, (slash, palette.muted))
                    table.add_row(Text(f"  {shown_keys(action)}", palette.accent), words)
            table.add_row()
        if "input" in self._scopes:
            table.add_row(Text("Commands", "bold"))
            for form in SLASH_HELP.values():
                command, _, meaning = form.partition(": ")
                table.add_row(Padding(Text(command, palette.accent), (0, 0, 0, 2)), meaning)
            table.add_row()
        table.add_row(Text("Marks", "bold"))
        for marks, meaning in LEGEND:
            table.add_row(Text(f"  {marks}", palette.accent), meaning)
        return table


__all__ = ["HelpScreen"]
