"""Where the view stands: a block and a line of it, never a number of lines from the top.

What changes or is measured above can so never move what the user reads. Must not draw a widget.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from textual.strip import Strip

from tori_tui.ui.transcript.blocks import GoalBlock
from tori_tui.ui.transcript.layout import can_fold, can_mark
from tori_tui.ui.transcript.slots import Slots

SHOWN_ABOVE: Final = 3
"""What is gone to stands below so much of the view: the part of one."""


class Place(NamedTuple):
    """A line of the transcript."""

    key: int
    line: int


class Row(NamedTuple):
    """A drawn line and where it comes from."""

    place: Place
    strip: Strip


class Viewport:
    """The lines in view. Follows the end unless it was moved up; asks only for blocks it shows."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.rows: list[Row] = []
        """What is in view, from the first line on."""
        self.is_following = True
        self.marked: int | None = None
        """The block that keys act on."""
        self._top = Place(0, 0)
        self._height = 0

    def settle(self, height: int) -> None:
        """Find the lines that a view of that height shows now."""
        self._height = height
        if not self.is_following:
            self.rows = self._from_top()
            self.is_following = len(self.rows) < height
        if self.is_following:
            self.rows = self._to_end()
        self.slots.trim()

    def scroll(self, lines: int) -> None:
        """Move by lines; settling at the end follows it again."""
        if not self.rows:
            return
        if lines < 0:
            self._scroll_up(-lines)
        elif not self.is_following:
            self._scroll_down(lines)

    def go_to(self, place: Place) -> None:
        """Show a line first in the view."""
        self._top = place
        self.is_following = False

    def go_to_start(self) -> None:
        """Show the very first line."""
        if len(self.slots):
            self.go_to(Place(self.slots.at(0).key, 0))

    def follow(self) -> None:
        """Show the end and stay there."""
        self.marked = None
        self.is_following = True

    def go_to_thumb(self, row: int) -> None:
        """Show what the scroll bar stands for when its thumb begins at a row."""
        thumb = self.thumb()
        if thumb is None:
            return
        room = self._height - thumb[1]
        if row >= room:
            self.follow()
            return
        line = round(max(0, row) / room * (self.slots.total_height - self._height))
        index, line = self.slots.place_of(line)
        self.go_to(Place(self.slots.at(index).key, line))

    def mark(self, step: int) -> None:
        """Mark the next (1) or previous (-1) block that keys can act on, and bring it into view."""
        if not self.rows:
            return
        if self.marked is None:
            index = self.slots.index_of(self.rows[0 if step > 0 else -1].place.key)
        else:
            index = self.slots.index_of(self.marked) + step
        while 0 <= index < len(self.slots) and not can_mark(self.slots.at(index).block):
            index += step
        if not 0 <= index < len(self.slots):
            return
        self.marked = self.slots.at(index).key
        if all(row.place.key != self.marked for row in self.rows):
            self.go_to(Place(self.marked, 0))

    def mark_goal(self, step: int) -> None:
        """Show where the next (1) or previous (-1) goal's work begins; past the last one, the end."""
        if not self.rows:
            return
        index = self.slots.index_of(self.rows[0].place.key) + step
        if self.rows[0].place.line > 1 and step < 0:
            index += 1  # in the middle of a goal its own beginning comes first
        while 0 <= index < len(self.slots) and not isinstance(self.slots.at(index).block, GoalBlock):
            index += step
        if index >= len(self.slots):
            self.follow()
        elif index < 0:
            self.go_to_start()
        else:
            self.go_to(Place(self.slots.at(index).key, 0))

    def unfold(self, key: int) -> None:
        """Show a block whole, and let keys act on it."""
        self.marked = key
        slot = self.slots.find(key)
        if slot is not None and can_fold(slot.block) and not slot.shows_all:
            self.slots.fold(key, unfolded=True)

    def show(self, place: Place) -> None:
        """Bring a line into the upper third of the view, unless it is well in view already."""
        heights = self._height
        shown = [row.place for row in self.rows[: max(1, heights - 1)]]
        if place in shown and not self.is_following:
            return
        self.go_to(place)
        self._scroll_up(heights // SHOWN_ABOVE)

    def toggle_fold(self, key: int | None) -> None:
        """Unfold or fold a block: the given, else the marked, else the newest that can be."""
        key = key if key is not None else self.marked
        key = key if key is not None else self.slots.last_foldable()
        slot = self.slots.find(key) if key is not None else None
        if slot is None or not can_fold(slot.block):
            return
        is_unfolding = not slot.shows_all
        self.slots.fold(slot.key, unfolded=is_unfolding)
        if is_unfolding and any(row.place.key == slot.key for row in self.rows):
            # It grows downwards from where its title stands; a short one is at the end again at once.
            self.is_following = False

    def is_title(self, y: int) -> bool:
        """Say whether a row is the first of its block that is not blank."""
        place, strip = self.rows[y]
        if not strip.text.strip():
            return False
        return place.line == 0 or (place.line == 1 and (y == 0 or not self.rows[y - 1].strip.text.strip()))

    def thumb(self) -> tuple[int, int] | None:
        """Return the scroll bar's (start, size) in rows, or None where everything is in view."""
        total = self.slots.total_height
        if total <= self._height or self._height <= 1:
            return None
        size = max(1, self._height * self._height // total)
        room = self._height - size
        if self.is_following:
            return room, size
        above = self.slots.height_before(self.slots.index_of(self._top.key)) + self._top.line
        return min(room, round(above / max(1, total - self._height) * room)), size

    def _from_top(self) -> list[Row]:
        index, line = self.slots.index_of(self._top.key), 0
        if index < len(self.slots) and self.slots.at(index).key == self._top.key:
            line = min(self._top.line, max(0, len(self.slots.lines(index)) - 1))
            self._top = Place(self._top.key, line)
        rows: list[Row] = []
        while index < len(self.slots) and len(rows) < self._height:
            rows += self._rows_of(index)[line:]
            index, line = index + 1, 0
        return rows[: self._height]

    def _to_end(self) -> list[Row]:
        rows: list[Row] = []
        index = len(self.slots)
        while index > 0 and len(rows) < self._height:
            index -= 1
            rows[:0] = self._rows_of(index, last=self._height - len(rows))
        if rows:
            self._top = rows[0].place
        return rows

    def _rows_of(self, index: int, *, last: int | None = None) -> list[Row]:
        """Return the rows of a block, or so many of its last: an answer may have thousands."""
        key, strips = self.slots.at(index).key, self.slots.lines(index)
        first = 0 if last is None else max(0, len(strips) - last)
        return [Row(Place(key, first + line), strip) for line, strip in enumerate(strips[first:])]

    def _scroll_down(self, lines: int) -> None:
        index, line = self.slots.index_of(self._top.key), self._top.line + lines
        while index < len(self.slots) - 1 and line >= len(self.slots.lines(index)):
            line -= len(self.slots.lines(index))
            index += 1
        self._top = Place(self.slots.at(index).key, line)

    def _scroll_up(self, lines: int) -> None:
        index, line = self.slots.index_of(self._top.key), self._top.line - lines
        while line < 0 and index > 0:
            index -= 1
            line += len(self.slots.lines(index))
        top = Place(self.slots.at(index).key, max(0, line))
        if top != self._top:
            self.go_to(top)


__all__ = ["Place", "Row", "Viewport"]
