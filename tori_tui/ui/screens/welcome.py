"""The first screen where there is no model yet: what gives one, what runs on this machine, and the demo.

Must not take a key: it says where keys are set. Servers are asked in threads; it ends with a beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tori_tui.domain.errors import ToriError
from tori_tui.render.safe_text import one_line
from tori_tui.ui.messages import Beginning
from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.models import name_column
from tori_tui.ui.talk_ports import ModelSource, NobodyListens

DEMO: Final = "Watch the demo: a whole session, recorded, without any key"
AGAIN: Final = "Look again for servers on this machine"

ERROR_CHARS: Final = 120


class FirstSteps(NamedTuple):
    """What the screen tells and asks."""

    reason: str
    """Why there is no model."""
    config_path: str
    """The user's configuration file."""
    sources: Callable[[], Sequence[ModelSource]] = tuple
    """The usual places of servers on this machine."""


class Row(NamedTuple):
    """What can be chosen."""

    text: Text
    beginning: Beginning | None
    """None looks again."""


class WelcomeScreen(Screen[Beginning | None]):
    """Ends with what to begin with, or None to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+q", "dismiss(None)", "Quit", show=False),
        Binding("ctrl+c", "dismiss(None)", "Quit", show=False, priority=True),
        Binding("r", "look", "Look again", show=False),
    ]

    def __init__(self, palette: Palette, steps: FirstSteps) -> None:
        super().__init__()
        self._palette = palette
        self._steps = steps
        self._found: list[Row] = []
        self._rows: list[Row] = []
        self._asked: dict[str, str] = {}
        """What is known of each place that has no model to offer; empty while it is asked."""
        self._has_moved = False
        self._list = OptionList(id="welcome-list")
        self._foot = Static(id="welcome-foot")

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        told = Static(Text("\n").join(self._words()), id="welcome-words")
        box = Vertical(VerticalScroll(told, can_focus=False), self._list, self._foot, id="welcome")
        box.border_title = Content("Welcome to tori")
        box.border_subtitle = Content("↑ ↓ Enter start · r look again · Esc quit")
        yield box

    def on_mount(self) -> None:
        """Look for servers."""
        self._list.focus()
        self.action_look()

    def _words(self) -> Iterator[Text]:
        palette = self._palette
        yield Text(one_line(self._steps.reason), palette.warning)
        yield Text("")
        yield Text("A key in your shell, then tori again:", palette.strong)
        yield Text("  export ANTHROPIC_API_KEY=…     or: export OPENAI_API_KEY=…", palette.code)
        yield Text("A server that speaks Chat Completions (llama.cpp, Ollama, vLLM …):", palette.strong)
        yield Text("  export OPENAI_BASE_URL=http://localhost:8080/v1", palette.code)
        yield Text.assemble(
            ("For good, in ", palette.strong), (one_line(self._steps.config_path), palette.muted), ":"
        )
        yield Text('  model = "openai-chat/NAME"', palette.code)
        yield Text("  [providers.openai-chat]", palette.code)
        yield Text('  base_url = "http://localhost:8080/v1"', palette.code)
        yield Text.assemble(
            ('  key_command = "pass show NAME"', palette.code),
            ("  # prints the key", palette.muted),
        )

    # ── servers ──

    def action_look(self) -> None:
        """Ask the usual places anew."""
        sources = tuple(self._steps.sources())
        self._found.clear()
        self._asked = {source.name: "" for source in sources}
        self._show()
        for source in sources:
            self.run_worker(partial(self._ask, source), thread=True, name=f"models of {source.name}")

    def _ask(self, source: ModelSource) -> None:
        try:
            names = [choice.name for choice in source.ask()]
        except NobodyListens:
            self.app.call_from_thread(self._take, source, (), "nobody")
        except ToriError as error:
            self.app.call_from_thread(self._take, source, (), one_line(str(error), ERROR_CHARS))
        else:
            self.app.call_from_thread(self._take, source, names, "" if names else "lists no model")

    def _take(self, source: ModelSource, names: Sequence[str], problem: str) -> None:
        if not self.is_attached or source.name not in self._asked:
            return
        if problem:
            self._asked[source.name] = problem
        else:
            del self._asked[source.name]
            self._found += [self._row(source, name) for name in names]
        self._show()

    def _row(self, source: ModelSource, name: str) -> Row:
        line = Text.assemble(
            ("▸ ", self._palette.success),
            name_column(name),
            " ",
            (one_line(source.name), self._palette.muted),
        )
        return Row(line, Beginning(name, source.base_url))

    def _show(self) -> None:
        others = [Row(Text(f"  {DEMO}"), Beginning(is_demo=True)), Row(Text(f"  {AGAIN}"), None)]
        at = self._list.highlighted
        marked = self._rows[at] if at is not None and self._has_moved else None
        self._rows = [*self._found, *others]
        self._list.clear_options()
        self._list.add_options(Option(row.text) for row in self._rows)
        self._list.highlighted = self._rows.index(marked) if marked in self._rows else 0
        self._foot.update(Text("\n").join(self._foot_lines()))

    def _foot_lines(self) -> Iterator[Text]:
        palette = self._palette
        asking = [name for name, problem in self._asked.items() if not problem]
        nobody = [name for name, problem in self._asked.items() if problem == "nobody"]
        if asking:
            yield Text(f"⟳ asking {' · '.join(map(one_line, asking))}", palette.accent)
        for name, problem in self._asked.items():
            if problem and problem != "nobody":
                yield Text(f"✗ {one_line(name)}: {problem}", palette.warning)
        if nobody:
            yield Text(f"nobody listens at {' · '.join(map(one_line, nobody))}", palette.muted)

    # ── choosing ──

    def on_key(self) -> None:
        """Remember that the user chooses himself: what is found later moves his mark no more."""
        self._has_moved = True

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """End with what was chosen, or look again."""
        beginning = self._rows[message.option_index].beginning
        if beginning is None:
            self.action_look()
        else:
            self.dismiss(beginning)


__all__ = ["FirstSteps", "WelcomeScreen"]
