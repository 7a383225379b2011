"""Blocks as one scrolling view that draws lines from cached strips.

Must not mount a widget for a message; the cost of an answer must not grow with what stands above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.block_list import Change
from tori_tui.ui.transcript.blocks import AnswerBlock, Block
from tori_tui.ui.transcript.finding import Finder, highlighted
from tori_tui.ui.transcript.lines import BAR_CELLS, GUTTER_CELLS
from tori_tui.ui.transcript.slots import Slots
from tori_tui.ui.transcript.viewport import Place, Viewport
from tori_tui.ui.widgets.barred import Barred

REDRAW_INTERVAL_S: Final = 0.05
"""A streaming block is drawn at most 20 times a second; its end at once."""

REDRAW_SLACK_S: Final = 0.01
"""What comes a little early is drawn and not kept for a timer: text is handed on at the same pace."""

WHEEL_LINES: Final = 3

_LINE_BITS: Final = 24
"""Places in a selection are numbers: the block's key above these bits, the line of the block below."""


class BlockView(Barred, can_focus=True):
    """Draws, scrolls, selects. Follows the end unless the user has scrolled up."""

    ALLOW_SELECT = True

    class FollowingChanged(Message, namespace="transcript"):
        """The view began or ceased to follow the end."""

        def __init__(self, is_following: bool) -> None:
            super().__init__()
            self.is_following = is_following

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self._slots = Slots(palette)
        self._view = Viewport(self._slots)
        self._finder = Finder(self._slots)
        self._palette = palette
        self._clock = clock
        self._was_following = True
        self._thumb: tuple[int, int] | None = None
        self._is_stale = True
        self._drawn_at_s = 0.0
        self._timer: Timer | None = None

    # ── values in ──

    def show(self, changes: Iterable[Change]) -> None:
        """Add, change and remove blocks. A growing one is drawn soon, everything else at once."""
        is_urgent = False
        for key, block in changes:
            is_urgent = is_urgent or not _is_growing(block)
            self._slots.put(key, block)
        self._is_stale = True
        wait_s = self._drawn_at_s + REDRAW_INTERVAL_S - self._clock()
        if is_urgent or wait_s <= REDRAW_SLACK_S:
            self._draw()
        elif self._timer is None:
            self._timer = self.set_timer(wait_s, self._draw)

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        self._palette = palette
        self._changed()

    def tick(self) -> None:
        """Let the clocks of running calls go on."""
        if self._slots.redraw_running(self._clock()):
            self._changed()

    @property
    def _last_key(self) -> int | None:
        return self._view.rows[-1].place.key if self._view.rows else None

    @property
    def is_following(self) -> bool:
        """Whether new lines move the view."""
        self._settle()
        return self._view.is_following

    @property
    def shown_text(self) -> list[str]:
        """The lines in view, as plain text."""
        self._settle()
        return [row.strip.text.rstrip() for row in self._view.rows]

    # ── drawing ──

    def _changed(self) -> None:
        self._is_stale = True
        self.refresh()

    def _draw(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        now_s, due_s = self._clock(), self._drawn_at_s + REDRAW_INTERVAL_S
        # One that is early by the slack does not bring the next one forward.
        self._drawn_at_s = due_s if due_s - REDRAW_SLACK_S <= now_s < due_s else now_s
        self.refresh()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._changed()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a part of the view.

        Without Textual's own styling: strips have their whole style, the frame is the parent's. That
        halves what a frame costs.
        """
        self._settle()
        size = self.size
        strips = [self._row(y, size.width) for y in crop.line_range]
        for line_filter in self.app.get_line_filters():
            # Its work is done: a theme's colours are either all true or all the terminal's own.
            if not isinstance(line_filter, ANSIToTruecolor):
                strips = [strip.apply_filter(line_filter, self.background_colors[1]) for strip in strips]
        if crop.column_span != (0, size.width):
            return [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """Return one line of the view; Textual asks for it to find the character under the mouse.

        Only here does a line say which it is: to write that into every piece of a frame costs much.
        """
        self._settle()
        row = self._row(y, self.size.width)
        rows = self._view.rows
        return row.apply_offsets(0, _number(rows[y].place)) if y < len(rows) else row

    def _row(self, y: int, width: int) -> Strip:
        rows = self._view.rows
        if y >= len(rows):
            strip = Strip.blank(width, self._palette.base)
        else:
            place, strip = rows[y]
            if self.text_selection is not None:
                strip = self._selected(strip, place)
            if self._finder.words:
                strip = highlighted(strip, self._finder.words, self._palette.found)
            if place.key == self._view.marked and self.has_focus and self._view.is_title(y):
                strip = strip.apply_style(self._palette.marked)
        if self._thumb is not None and self._thumb[0] <= y < sum(self._thumb):
            # Any other line stays the object it was, and with it what Textual keeps of it.
            bar = Segment("▐", self._palette.base + self._palette.border)
            return Strip([*strip.crop(0, width - BAR_CELLS), bar], width)
        return strip

    def _settle(self) -> None:
        """Find the lines that the view shows, drawing only their blocks."""
        height, width = self.size.height, self.size.width - BAR_CELLS
        if not self._is_stale or width <= 0 or height <= 0:
            return
        self._is_stale = False
        self._slots.set_look(width, self._palette)
        self._view.settle(height)
        self._thumb = self._view.thumb()
        if self._view.is_following != self._was_following:
            self._was_following = self._view.is_following
            self.post_message(self.FollowingChanged(self._was_following))

    def _selected(self, strip: Strip, place: Place) -> Strip:
        selection = self.text_selection
        span = selection.get_span(_number(place)) if selection is not None else None
        if span is None:
            return strip
        text = strip.text
        start, end = span
        first = cell_len(text[:start])
        last = strip.cell_length - BAR_CELLS if end == -1 else cell_len(text[:end])
        style = self.screen.get_component_rich_style("screen--selection", partial=True)
        middle = strip.crop(first, last).apply_style(style)
        restyled = Strip([Segment(s.text, (s.style or style) + style) for s in middle])
        return Strip.join([strip.crop(0, first), restyled, strip.crop(last)])

    # ── moving and selecting ──

    def action_scroll_lines(self, lines: int) -> None:
        """Move the view; reaching the end follows it again."""
        self._settle()
        self._view.scroll(lines)
        self._changed()

    def action_scroll_pages(self, pages: int) -> None:
        """Move the view by its height less two lines."""
        self.action_scroll_lines(pages * max(1, self.size.height - 2))

    def action_to_start(self) -> None:
        """Show the very first line."""
        self._view.go_to_start()
        self._changed()

    def action_follow(self) -> None:
        """Show the end and stay there; a search is over."""
        self._finder.start("")
        self._view.follow()
        self._changed()

    def bar_thumb(self) -> tuple[int, int] | None:
        """Return the thumb's (start, size) in rows."""
        self._settle()
        return self._thumb

    def move_thumb(self, row: int) -> None:
        """Show what the scroll bar stands for when its thumb begins at a row."""
        self._view.go_to_thumb(row)
        self._changed()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(-WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(WHEEL_LINES)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without gutters and padding."""
        if not len(self._slots):
            return None
        first = selection.start.y >> _LINE_BITS if selection.start else self._slots.at(0).key
        last = selection.end.y >> _LINE_BITS if selection.end else self._slots.at(-1).key
        lines: list[str] = []
        for index in range(self._slots.index_of(first), len(self._slots)):
            key = self._slots.at(index).key
            if key > last:
                break
            for line, strip in enumerate(self._slots.lines(index)):
                span = selection.get_span(_number(Place(key, line)))
                if span is None:
                    continue
                start, end = span
                text = strip.text if end == -1 else strip.text[:end]
                lines.append(copied(text) if start < GUTTER_CELLS else text[start:].rstrip())
        self._slots.trim()
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()


def _is_growing(block: Block | None) -> bool:
    return isinstance(block, AnswerBlock) and block.is_streaming


def _number(place: Place) -> int:
    return (place.key << _LINE_BITS) | place.line


def copied(line: str) -> str:
    """Return a drawn line without its gutter and padding."""
    return line[GUTTER_CELLS:].rstrip()


__all__ = ["REDRAW_INTERVAL_S", "BlockView", "copied"]
