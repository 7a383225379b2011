"""Where a replay stands: its goals on one line, its turns on the next, each to be clicked.

Must not know records; it shows a timeline and posts the place that was clicked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.timeline import Mark, MarkKind, Timeline
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of

MARKS: Final[dict[MarkKind, str]] = {
    "begun": "╷",
    "done": "✓",
    "given_up": "✗",
    "rewound": "↶",
    "stopped": "■",
    "failed": "!",
}
"""In the order of their weight: of those that fall into one cell the last is shown."""

LEGEND: Final = "╷ begun  ✓ done  ✗ given up  ↶ rewound  ■ stopped  ! failed"

TICKS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""Turns from one tick to the next."""

TICK_CELLS: Final = 2
"""Between ticks, so that they can be told apart."""

LEFT_CELLS: Final = 3


@dataclass(frozen=True, slots=True)
class Played:
    """What a scrubber shows beside its timeline."""

    place: int = 0
    speed: int = 1
    is_playing: bool = False
    typed: str | None = None
    """The number of a turn as far as it is typed; None where none is asked for."""
    path: str = ""
    """What is left out; empty where everything is told."""


class Scrubber(Widget):
    """A line of goals, a line of turns, and one that says what is left out, if anything is."""

    DEFAULT_CSS = """
    Scrubber { height: 2; }
    Scrubber.-path { height: 3; }
    """

    class Sought(Message):
        """The user wants to see another moment."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._timeline = Timeline()
        self._played = Played()
        self._is_dragged = False

    def show(self, timeline: Timeline, played: Played) -> None:
        """Show a moment."""
        self._timeline, self._played = timeline, played
        self.set_class(bool(played.path), "-path")
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        """Return one of the lines."""
        line = (self._goals, self._turns, self._path)[min(y, 2)]()
        return strip_of(line, self.size.width, self._palette.base)

    def _goals(self) -> Text:
        cells: list[tuple[str, Style]] = [(" ", self._palette.base)] * self._room
        weights = list(MARKS)
        shown: dict[int, Mark] = {}
        for mark in self._timeline.marks:
            cell = self._cell(mark.place)
            if cell not in shown or weights.index(mark.kind) >= weights.index(shown[cell].kind):
                shown[cell] = mark
        for cell, mark in shown.items():
            cells[cell] = (MARKS[mark.kind], self._style(mark.kind))
            if mark.kind == "begun":
                room = next((c for c in sorted(shown) if c > cell), self._room) - cell - 1
                self._write(cells, cell + 1, str(mark.goal_id), room)
        return Text.assemble(" " * LEFT_CELLS, *cells)

    def _write(self, cells: list[tuple[str, Style]], start: int, name: str, room: int) -> None:
        # Half a number would be another goal's.
        if len(name) <= room:
            for offset, char in enumerate(name):
                cells[start + offset] = (char, self._palette.muted)

    def _style(self, kind: MarkKind) -> Style:
        palette = self._palette
        match kind:
            case "begun":
                return palette.accent
            case "done":
                return palette.success
            case "failed":
                return palette.error
            case "given_up" | "rewound" | "stopped":
                return palette.warning

    def _turns(self) -> Text:
        palette, played = self._palette, self._played
        here = self._cell(played.place) if played.place else -1
        ticks = set(self._tick_cells())
        line = Text.assemble((f" {'▶' if played.is_playing else '‖'} ", palette.accent))
        for cell in range(self._room):
            is_done = cell <= here
            bar = ("┷" if is_done else "┴") if cell in ticks else ("━" if is_done else "─")
            is_here = cell == here
            line.append("●" if is_here else bar, palette.accent if is_done else palette.border)
        line.append(self._right, palette.warning if played.typed is not None else palette.muted)
        return line

    def _tick_cells(self) -> Iterator[int]:
        turns = self._timeline.turns
        each = next((n for n in TICKS if len(turns) * TICK_CELLS <= self._room * n), TICKS[-1])
        return (self._cell(turn.end) for turn in turns[each - 1 :: each])

    def _path(self) -> Text:
        line = Text.assemble((" ◉ ", self._palette.warning), (self._played.path, self._palette.warning))
        line.truncate(self.size.width, overflow="ellipsis")
        return line

    @property
    def _right(self) -> str:
        played, turns = self._played, self._timeline.turns
        last = turns[-1].number if turns else 0
        if played.typed is not None:
            return f" to turn {played.typed}▏of {last} · Enter "
        turn = self._timeline.turn_at(played.place)
        number = turn.number if turn else 0
        # Always as wide, so that the bar keeps its scale.
        return f" turn {number:>{len(str(last))}}/{last} · {played.speed:>2}× "

    # ── places and cells ──

    @property
    def _room(self) -> int:
        return max(1, self.size.width - LEFT_CELLS - cell_len(self._right))

    def _cell(self, place: int) -> int:
        """Return the cell in which the last of so many records stands."""
        n_places = max(1, self._timeline.n_places)
        return min(self._room, max(1, -(-place * self._room // n_places))) - 1

    def _place(self, cell: int) -> int:
        """Return how many records stand up to a cell, its own included."""
        return max(0, min(cell + 1, self._room)) * self._timeline.n_places // self._room

    # ── mouse ──

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the place that is pressed: to the goal that begins there, or into the bar."""
        if event.y > 1 or event.x >= LEFT_CELLS + self._room:
            return
        cell = event.x - LEFT_CELLS
        if event.y == 1:
            self._is_dragged = True
            self.capture_mouse()
            self.post_message(self.Sought(self._place(cell)))
        else:
            self._seek_goal(cell)

    def _seek_goal(self, cell: int) -> None:
        begins = (mark.place for mark in self._timeline.marks if mark.kind == "begun")
        found = [place for place in begins if self._cell(place) <= cell]
        if found:
            self.post_message(self.Sought(found[-1]))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse while its button is down."""
        if self._is_dragged:
            self.post_message(self.Sought(self._place(event.x - LEFT_CELLS)))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Stay where the button is let go."""
        self._is_dragged = False
        self.release_mouse()


__all__ = ["LEGEND", "Played", "Scrubber"]
