"""Every action by name: type a few letters, Enter does it.

Must not offer anything itself; the commands come from the registry of actions. A list of its own, since
Textual's looks for its commands in workers and shows none for half a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option


class ActionPalette(ModalScreen[SystemCommand | None]):
    """Lists the actions; ends with the one that was chosen."""

    DEFAULT_CSS = """
    ActionPalette { align: center middle; background: $background 60%; }
    ActionPalette > #palette {
        width: 90; max-width: 96%; height: 80%; padding: 0 1;
        border: round $border; border-title-color: $foreground; border-subtitle-color: $tori-muted;
        background: $surface;
    }
    ActionPalette #palette-words {
        border: none; height: 1; padding: 0; margin: 0 0 1 0; background: $surface;
    }
    ActionPalette #palette-list {
        min-width: 20; height: 1fr; padding: 0; border: none; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    ActionPalette #palette-list > .option-list--option-highlighted {
        background: $panel; color: $foreground; text-style: bold;
    }
    ActionPalette:ansi #palette-list > .option-list--option-highlighted { text-style: reverse; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False, priority=True),
        Binding("up,ctrl+p", "move('cursor_up')", "Up", show=False, priority=True),
        Binding("down,ctrl+n", "move('cursor_down')", "Down", show=False, priority=True),
        Binding("pageup", "move('page_up')", "Page up", show=False, priority=True),
        Binding("pagedown", "move('page_down')", "Page down", show=False, priority=True),
    ]

    def __init__(self, commands: Iterable[SystemCommand]) -> None:
        super().__init__()
        self._commands = tuple(commands)
        self._shown = self._commands
        self._input = Input(placeholder="type a few letters of what you want", id="palette-words")
        # A blinking cursor would keep an idle terminal busy.
        self._input.cursor_blink = False
        self._list = OptionList(id="palette-list")

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        box = Vertical(self._input, self._list, id="palette")
        box.border_title = Content("Commands")
        box.border_subtitle = Content("Enter does it · Esc close")
        yield box

    def on_mount(self) -> None:
        """Show everything."""
        self._list.can_focus = False
        self._input.focus()
        self._show("")

    @property
    def shown(self) -> tuple[SystemCommand, ...]:
        """What fits the words, the best first."""
        return self._shown

    def _show(self, words: str) -> None:
        self._shown = found(self._commands, words)
        self._list.clear_options()
        self._list.add_options(Option(_line(command)) for command in self._shown)
        self._list.highlighted = 0 if self._shown else None

    def on_input_changed(self, message: Input.Changed) -> None:
        """Show what fits."""
        self._show(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Do what is marked."""
        self._do(self._list.highlighted)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Do what was clicked."""
        self._do(message.option_index)

    def _do(self, at: int | None) -> None:
        # A click may have been on its way while letters made the list shorter, or behind another choice.
        if at is not None and at < len(self._shown) and self.is_current:
            self.dismiss(self._shown[at])

    async def action_move(self, how: str) -> None:
        """Mark another line."""
        if self._list.size.height > 0:  # a page of a list that is not laid out has no lines
            await self._list.run_action(how)


def found(commands: Iterable[SystemCommand], words: str) -> tuple[SystemCommand, ...]:
    """Return the commands whose title, keys or slash word fit the words, the best first."""
    if not words.strip():
        return tuple(commands)
    matcher = Matcher(words.strip())
    scored = [
        (max(matcher.match(command.title), matcher.match(command.help) / 2), command) for command in commands
    ]
    scored.sort(key=lambda pair: -pair[0])
    return tuple(command for score, command in scored if score > 0)


def _line(command: SystemCommand) -> Content:
    # Escape sequences cannot come in here: titles and names of agents are lines of tori's own.
    return Content.assemble(command.title, ("  " + command.help, "$tori-muted") if command.help else "")


__all__ = ["ActionPalette", "found"]
