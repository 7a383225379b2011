"""How much the model is to think: the efforts that it takes, one to choose.

Must not know a provider, nor switch; it ends with the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.request import Effort
from tori_tui.render.safe_text import one_line
from tori_tui.ui.palette import Palette

DEFAULT: Final = "default"

MEANINGS: Final[dict[EffortChoice, str]] = {
    "default": "as the model does by itself",
    "minimal": "hardly any thinking: fast and cheap",
    "low": "little thinking",
    "medium": "some thinking",
    "high": "long thinking",
    "max": "as long as it takes: slow and dear",
}

NAME_CELLS: Final = 9


class EffortsScreen(ModalScreen[EffortChoice | None]):
    """Ends with an effort, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "Close", show=False)]

    def __init__(self, palette: Palette, model: str, efforts: Sequence[Effort], now: Effort) -> None:
        super().__init__()
        self._palette = palette
        self._model = model
        self._choices: list[EffortChoice] = [DEFAULT, *efforts]
        self._now: EffortChoice = now or DEFAULT
        self._list = OptionList(*map(self._option, self._choices), id="efforts")

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        self._list.border_title = Content(f"Effort · {one_line(self._model, 40)}")
        self._list.border_subtitle = Content("Enter choose · Esc close")
        yield self._list

    def on_mount(self) -> None:
        """Begin at the effort in force."""
        self._list.highlighted = self._choices.index(self._now) if self._now in self._choices else 0
        self._list.focus()

    def _option(self, choice: EffortChoice) -> Option:
        mark = "●" if choice == self._now else " "
        palette = self._palette
        line = Text.assemble(
            (f"{mark} ", palette.accent), f"{choice:<{NAME_CELLS}}", (MEANINGS[choice], palette.muted)
        )
        return Option(line)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """End with the choice."""
        self.dismiss(self._choices[message.option_index])


__all__ = ["DEFAULT", "EffortsScreen"]
