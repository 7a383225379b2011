"""The models there are: look for one, switch to it.

Must not know where the names come from, nor switch; it ends with the name. Servers are asked in threads,
while the list can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tori_tui.domain.errors import ToriError
from tori_tui.render.amounts import counted, shown_tokens
from tori_tui.render.safe_text import one_line
from tori_tui.ui.palette import Palette
from tori_tui.ui.talk_ports import ModelChoice, ModelSource

NAME_CELLS: Final = 44

ERROR_CHARS: Final = 160


class ModelsScreen(ModalScreen[str | None]):
    """Ends with a model's name; one that is in no list can be typed whole."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
    ]

    def __init__(
        self,
        palette: Palette,
        choices: Sequence[ModelChoice],
        now: str,
        sources: Sequence[ModelSource] = (),
    ) -> None:
        super().__init__()
        self._palette = palette
        self._choices = tuple(choices)
        self._shown = self._choices
        self._now = now
        self._sources = tuple(sources)
        self._told = {source.name: Text(f"⟳ asking {one_line(source.name)} …") for source in self._sources}
        """What is known of each server, in its order."""
        self._input = Input(
            placeholder="type to look for a name, or a whole provider/name", id="models-filter"
        )
        # A blinking cursor would keep an idle terminal busy.
        self._input.cursor_blink = False
        self._list = OptionList(id="models-list")
        self._foot = Static(id="models-foot")

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        box = Vertical(self._input, self._list, self._foot, id="models")
        box.border_title = Content("Models · ● in use ◇ yours + on a server")
        box.border_subtitle = Content("Enter switch · Esc close · $ per million tokens in / out")
        yield box

    def on_mount(self) -> None:
        """Begin at the model in use, and ask the servers."""
        self._list.can_focus = False
        self._input.focus()
        self._show("", self._now)
        self._show_foot()
        for source in self._sources:
            self.run_worker(partial(self._ask, source), thread=True, name=f"models of {source.name}")

    # ── servers ──

    def _ask(self, source: ModelSource) -> None:
        try:
            choices: Sequence[ModelChoice] = source.ask()
        except ToriError as error:
            told = Text(
                f"✗ {one_line(source.name)}: {one_line(str(error), ERROR_CHARS)}", self._palette.warning
            )
            self.app.call_from_thread(self._take, source, (), told)
            return
        told = Text(f"✓ {one_line(source.name)} lists {counted(len(choices), 'model')}", self._palette.muted)
        self.app.call_from_thread(self._take, source, choices, told)

    def _take(self, source: ModelSource, choices: Sequence[ModelChoice], told: Text) -> None:
        """Add what a server has: the configured models stay first, those of servers come before the rest."""
        if not self.is_attached:
            return
        self._told[source.name] = told
        listed = {choice.name for choice in choices}
        known = {choice.name for choice in self._choices}
        marked = [replace(c, is_listed=True) if c.name in listed else c for c in self._choices]
        new = [choice for choice in choices if choice.name not in known]
        self._choices = (
            *(c for c in marked if c.is_configured),
            *(c for c in marked if c.is_listed and not c.is_configured),
            *new,
            *(c for c in marked if not (c.is_listed or c.is_configured)),
        )
        at = self._list.highlighted
        self._show(self._input.value, self._shown[at].name if at is not None else "")
        self._show_foot()

    def _show_foot(self) -> None:
        self._foot.display = bool(self._told)
        self._foot.update(Text("\n").join(self._told.values()))

    # ── list ──

    def _show(self, words: str, marked: str = "") -> None:
        wanted = words.casefold().split()
        self._shown = tuple(c for c in self._choices if all(word in c.name.casefold() for word in wanted))
        self._list.clear_options()
        self._list.add_options(Option(self._line(choice)) for choice in self._shown)
        names = [choice.name for choice in self._shown]
        self._list.highlighted = names.index(marked) if marked in names else 0 if names else None

    def _line(self, choice: ModelChoice) -> Text:
        muted = self._palette.muted
        is_now = choice.name == self._now
        mark = "●" if is_now else "◇" if choice.is_configured else "+" if choice.is_listed else " "
        window = shown_tokens(choice.window_tokens) if choice.window_tokens else ""
        price = f"${choice.input_usd:g} / ${choice.output_usd:g}" if choice.input_usd is not None else ""
        return Text.assemble(
            (f"{mark} ", self._palette.accent),
            name_column(choice.name),
            (f" {window:>5}  {price}", muted),
            no_wrap=True,
        )

    def on_input_changed(self, message: Input.Changed) -> None:
        """Show what fits."""
        self._show(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Switch to what is marked, else to what was typed."""
        at = self._list.highlighted
        if at is not None and at < len(self._shown):
            self.dismiss(self._shown[at].name)
        elif "/" in message.value:
            self.dismiss(message.value.strip())

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Switch to what was clicked."""
        self.dismiss(self._shown[message.option_index].name)

    def action_move(self, step: int) -> None:
        """Mark the next or the last one."""
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()


def name_column(name: str) -> Text:
    """Return a model's name in a column of its own, cut where it is too long."""
    column = Text(one_line(name))
    column.truncate(NAME_CELLS, overflow="ellipsis", pad=True)
    return column


__all__ = ["ModelsScreen", "name_column"]
