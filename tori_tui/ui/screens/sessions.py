"""The sessions of this project: look for one, name it, choose the one to go on with.

Must not read a trace or open a session; both come in as functions, and the choice goes out as an id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tori_tui.domain.errors import ToriError
from tori_tui.domain.ids import TraceId
from tori_tui.render.amounts import counted, shown_age, shown_cost
from tori_tui.render.safe_text import one_line
from tori_tui.trace.catalog import TraceEntry, search_traces
from tori_tui.ui.palette import Palette

TITLE_LIMIT_CHARS: Final = 200
STATUS_CELLS: Final = 11
AGE_CELLS: Final = 8
TURNS_CELLS: Final = 10
COST_CELLS: Final = 8

_FILTER: Final = "type to look for words of a mission, a name or an id"
_NAME: Final = "the session's new name; Esc leaves the old one"


@dataclass(frozen=True, slots=True)
class SessionsPort:
    """What the list needs of the world."""

    entries: Callable[[], Sequence[TraceEntry]]
    """Reads the list, newest first."""
    rename: Callable[[Path, str], None]
    """Raises `ToriError`."""
    is_open: Callable[[Path], bool]
    """Whether a process, this one included, works in the trace."""
    now: Callable[[], datetime]
    fork: Callable[[Path], str]
    """Begins a new session where one stands, and returns its id. Raises `ToriError`."""
    trash: Callable[[Path], Path]
    """Moves one to the trash and returns its place there. Raises `ToriError`."""
    restore: Callable[[Path], Path]
    """Moves it back. Raises `ToriError`."""


class OneLineInput(Input):
    """A field of one line that keeps every pasted word."""

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(" ".join(event.text.split()), *self.selection)


class SessionsScreen(ModalScreen[str | None]):
    """Ends with the id of the session to go on with, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Close", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
        Binding("ctrl+r", "rename", "Rename", show=False, priority=True),
        Binding("ctrl+f", "fork", "Fork", show=False, priority=True),
        Binding("ctrl+d,delete", "trash", "Delete", show=False, priority=True),
        Binding("ctrl+z", "restore", "Undo", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, port: SessionsPort, *, words: str = "", is_busy: bool) -> None:
        super().__init__()
        self._palette = palette
        self._port = port
        self._is_busy = is_busy
        self._entries: tuple[TraceEntry, ...] = ()
        self._shown: tuple[TraceEntry, ...] = ()
        self._renamed: TraceEntry | None = None
        self._is_changing = False
        """Whether a session is being forked, moved or named just now."""
        self._trashed: list[Path] = []
        """What was deleted here, the newest last."""
        self._wanted = ""
        """The id to mark once the list is read."""
        self._told = ""
        """What to say then."""
        self._words = words
        self._input = OneLineInput(words, placeholder=_FILTER, id="sessions-filter")
        # A blinking cursor would keep an idle terminal busy.
        self._input.cursor_blink = False
        self._list = OptionList(id="sessions-list")
        self._foot = Static(id="sessions-foot")

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        box = Vertical(self._input, self._list, self._foot, id="sessions")
        box.border_title = Content("Sessions")
        box.border_subtitle = Content("Enter open · Ctrl+R name · Ctrl+F fork · Ctrl+D delete · Esc close")
        yield box

    def on_mount(self) -> None:
        """Read the list beside the first frame."""
        self._list.can_focus = False
        self._input.focus()
        self._read()

    def _read(self) -> None:
        self.run_worker(self._read_entries, thread=True, exclusive=True, name="sessions")

    def _read_entries(self) -> None:
        entries = tuple(self._port.entries())
        self.app.call_from_thread(self._show, entries)

    def _show(self, entries: tuple[TraceEntry, ...]) -> None:
        self._entries = entries
        self._filter()
        if self._told:
            self._tell(self._told)
            self._told = ""

    def _filter(self) -> None:
        marked = self._wanted or (self._marked.id if self._marked else "")
        self._wanted = ""
        self._shown = search_traces(self._entries, self._words)
        now = self._port.now()
        self._list.clear_options()
        self._list.add_options(Option(self._line(entry, now)) for entry in self._shown)
        ids = [entry.id for entry in self._shown]
        if ids:
            self._list.highlighted = ids.index(TraceId(marked)) if marked in ids else 0
        found = f"{len(self._shown):,} of {counted(len(self._entries), 'session')}"
        busy = ". What runs here is interrupted first and can be resumed" if self._is_busy else ""
        self._tell(f"{found}{busy}.")

    def _line(self, entry: TraceEntry, now: datetime) -> Text:
        muted, style = self._palette.muted, self._palette.strong if entry.name else ""
        title = " · ".join(
            filter(None, (one_line(entry.name, 60), one_line(entry.mission, TITLE_LIMIT_CHARS)))
        )
        more = f" (+{entry.n_missions - 1})" if entry.n_missions > 1 else ""
        turns = "" if entry.n_turns is None else counted(entry.n_turns, "turn")
        cost = shown_cost(entry.cost_usd or 0.0, is_partial=False)
        age = shown_age((now - entry.updated_at).total_seconds())
        return Text.assemble(
            (f"{age:>{AGE_CELLS}}  ", muted),
            (f"{entry.status or '?':<{STATUS_CELLS}} ", self._status_style(entry.status)),
            (f"{turns:>{TURNS_CELLS}} {cost:>{COST_CELLS}}  ", muted),
            (title or one_line(entry.id), style),
            (more, muted),
            no_wrap=True,
            overflow="ellipsis",
        )

    def _status_style(self, status: str) -> str:
        match status:
            case "done":
                return str(self._palette.success)
            case "failed":
                return str(self._palette.error)
            case "idle" | "":
                return str(self._palette.muted)
            case _:
                return str(self._palette.warning)

    @property
    def _marked(self) -> TraceEntry | None:
        index = self._list.highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def _tell(self, text: str) -> None:
        self._foot.update(Text(one_line(text), self._palette.muted))

    # ── what the user does ──

    def on_input_changed(self, message: Input.Changed) -> None:
        """Show what fits."""
        if self._renamed is None and message.value != self._words:
            self._words = message.value
            self._filter()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Give the name, or open what is marked."""
        if self._renamed is not None:
            self._rename(self._renamed, message.value.strip())
        else:
            self._choose(self._marked)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Open what was clicked."""
        if self._renamed is None and message.option_index < len(self._shown):
            self._choose(self._shown[message.option_index])

    def _choose(self, entry: TraceEntry | None) -> None:
        if entry is None or self._is_changing:
            return
        if self._port.is_open(entry.path):
            self._tell(f"{entry.id} is open already, here or in another window.")
            return
        self.dismiss(entry.id)

    def action_back(self) -> None:
        """Leave the name as it is, empty the filter, or close."""
        if self._renamed is not None:
            self._end_renaming()
        elif self._input.value:
            self._input.value = ""
        else:
            self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Mark the next or the last line."""
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    async def action_page(self, step: int) -> None:
        """Mark a line a page on."""
        await self._list.run_action("page_down" if step > 0 else "page_up")

    def action_rename(self) -> None:
        """Ask for another name of what is marked."""
        entry = self._marked
        if entry is None or self._renamed is not None:
            return
        if self._port.is_open(entry.path):
            self._tell("It is open already: in its window, /rename NAME names it.")
            return
        self._renamed = entry
        self._input.placeholder = _NAME
        self._input.value = entry.name
        self._input.cursor_position = len(entry.name)

    def action_fork(self) -> None:
        """Begin a new session where the marked one stands; both go on from there."""
        entry = self._marked
        if entry is not None and self._renamed is None:
            self._change("Forking", lambda: self._fork(entry))

    def _fork(self, entry: TraceEntry) -> str:
        self._wanted = self._port.fork(entry.path)
        return f"Forked: {self._wanted} begins where {entry.id} stands. Enter opens it."

    def action_trash(self) -> None:
        """Move what is marked to the trash, where it can be taken from again."""
        entry = self._marked
        if entry is None or self._renamed is not None:
            return
        if self._port.is_open(entry.path):
            self._tell("It is open, here or in another window: only a closed session can be deleted.")
            return
        self._change("Moving to the trash", lambda: self._trash(entry))

    def _trash(self, entry: TraceEntry) -> str:
        place = self._port.trash(entry.path)
        self._trashed.append(place)
        return f"{entry.id} lies in {place.parent} now. Ctrl+Z takes it back."

    def action_restore(self) -> None:
        """Take back what was deleted last."""
        if self._trashed:
            self._change("Taking back", self._restore)
        else:
            self._tell("Nothing was deleted here.")

    def _restore(self) -> str:
        place = self._port.restore(self._trashed[-1])
        self._trashed.pop()
        self._wanted = place.name
        return f"{place.name} is back."

    def _change(self, doing: str, change: Callable[[], str]) -> None:
        """Change what there is beside the screen, and show the list anew with what came of it.

        A long trace takes a second to copy, and a slow disk as long to move one.
        """
        if self._is_changing:
            return
        self._is_changing = True
        self._tell(f"⟳ {doing} …")
        self.run_worker(lambda: self._make(change), thread=True, name="change", group="change")

    def _make(self, change: Callable[[], str]) -> None:
        try:
            told = change()
        except ToriError as error:
            self.app.call_from_thread(self._refused, str(error))
        else:
            self.app.call_from_thread(self._changed, told)

    def _refused(self, why: str) -> None:
        self._is_changing = False
        self._tell(why)

    def _changed(self, told: str) -> None:
        self._is_changing = False
        self._told = told
        if self.is_attached:
            self._read()

    def _rename(self, entry: TraceEntry, name: str) -> None:
        self._end_renaming()
        self._change("Naming", lambda: self._named(entry, name))

    def _named(self, entry: TraceEntry, name: str) -> str:
        self._port.rename(entry.path, name)
        return ""

    def _end_renaming(self) -> None:
        self._renamed = None
        self._input.placeholder = _FILTER
        self._input.value = self._words


__all__ = ["SessionsPort", "SessionsScreen"]
