"""The blocks of a transcript with their cached lines, in bounded memory.

Must not know where the view stands; the widget asks for lines, and only for those it shows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from typing import Final

from textual.strip import Strip

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.blocks import AnswerBlock, Block, CallBlock, GoalBlock
from tori_tui.ui.transcript.diffs import DiffForm
from tori_tui.ui.transcript.growing import GrowingLines
from tori_tui.ui.transcript.layout import block_lines, can_fold, starts_unfolded
from tori_tui.ui.transcript.lines import BAR_CELLS, strip_of

CACHED_LINES: Final = 3_000
"""Lines kept drawn: some sixty screens, about 10 MB."""


class Slot:
    """A block, how it is folded, and its lines while they are cached."""

    __slots__ = ("block", "growing", "height", "is_unfolded", "key", "strips")

    def __init__(self, key: int, block: Block) -> None:
        self.key = key
        self.block = block
        self.is_unfolded: bool | None = None
        """What the user chose; None where he did not."""
        self.strips: list[Strip] | None = None
        self.height = estimated_height(block)
        """Exact once drawn, else a guess: it only moves the scroll bar."""
        self.growing: GrowingLines | None = None

    @property
    def shows_all(self) -> bool:
        """Whether the block is shown unfolded."""
        return starts_unfolded(self.block) if self.is_unfolded is None else self.is_unfolded


class Slots:
    """Blocks in order, found by key or by place; draws lines on demand and forgets the oldest."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self.width = 0
        self.diff_form: DiffForm = "auto"
        self.now_s = 0.0
        self._keys: list[int] = []
        self._slots: list[Slot] = []
        self._drawn: OrderedDict[int, Slot] = OrderedDict()
        self._n_drawn_lines = 0
        self.total_height = 0
        """All lines, partly guessed."""

    def __len__(self) -> int:
        return len(self._slots)

    def at(self, index: int) -> Slot:
        """Return the slot at a place."""
        return self._slots[index]

    def index_of(self, key: int) -> int:
        """Return the place of a key, or where it would stand."""
        return bisect_left(self._keys, key)

    def find(self, key: int) -> Slot | None:
        """Return the slot of a key, or None."""
        index = self.index_of(key)
        return self._slots[index] if index < len(self._keys) and self._keys[index] == key else None

    def first_of_goal(self, goal_id: str) -> int | None:
        """Return the place where work on a goal begins, or None."""
        for index, slot in enumerate(self._slots):
            if isinstance(slot.block, GoalBlock) and slot.block.goal_id == goal_id:
                return index
        return next((i for i, slot in enumerate(self._slots) if slot.block.goal_id == goal_id), None)

    def last_foldable(self) -> int | None:
        """Return the key of the newest block that can be folded or unfolded, or None."""
        return next((slot.key for slot in reversed(self._slots) if can_fold(slot.block)), None)

    def put(self, key: int, block: Block | None) -> None:
        """Add, change or (None) remove a block."""
        index = self.index_of(key)
        is_known = index < len(self._keys) and self._keys[index] == key
        if block is None:
            if is_known:
                self._forget_lines(self._slots[index])
                self.total_height -= self._slots[index].height
                del self._slots[index], self._keys[index]
        elif is_known:
            slot = self._slots[index]
            self._forget_lines(slot)
            slot.block = block
        else:
            slot = Slot(key, block)
            self._keys.insert(index, key)
            self._slots.insert(index, slot)
            self.total_height += slot.height

    def fold(self, key: int, *, unfolded: bool) -> None:
        """Set how a block is shown."""
        slot = self.find(key)
        if slot is not None:
            self._forget_lines(slot)
            slot.is_unfolded = unfolded

    def set_look(self, width: int, palette: Palette) -> None:
        """Draw for another width or in other styles from now on."""
        if (width, palette) == (self.width, self.palette):
            return
        self.width, self.palette = width, palette
        self._forget_all()

    def set_diff_form(self, form: DiffForm) -> None:
        """Show diffs in another form from now on."""
        self.diff_form = form
        self._forget_all()

    def _forget_all(self) -> None:
        for slot in self._slots:
            slot.strips = slot.growing = None
        self._drawn.clear()
        self._n_drawn_lines = 0

    def redraw_running(self, now_s: float) -> bool:
        """Let running calls show the time anew; say whether there was one among the drawn."""
        self.now_s = now_s
        running = [
            slot
            for slot in self._drawn.values()
            if isinstance(slot.block, CallBlock) and slot.block.state == "running"
        ]
        for slot in running:
            self._forget_lines(slot)
        return bool(running)

    def lines(self, index: int) -> list[Strip]:
        """Return the drawn lines of the slot at a place, each with a blank cell for the scroll bar."""
        slot = self._slots[index]
        if slot.strips is None:
            slot.strips = self._draw(slot)
            self.total_height += len(slot.strips) - slot.height
            slot.height = len(slot.strips)
            self._n_drawn_lines += slot.height
            self._drawn[slot.key] = slot
        else:
            self._drawn.move_to_end(slot.key)
        return slot.strips

    def trim(self) -> None:
        """Forget lines that were not asked for lately, beyond the limit."""
        while self._n_drawn_lines > CACHED_LINES and len(self._drawn) > 1:
            self._forget_lines(next(iter(self._drawn.values())))

    def height_before(self, index: int) -> int:
        """Return the lines above a place, partly guessed."""
        return sum(slot.height for slot in self._slots[:index])

    def place_of(self, line: int) -> tuple[int, int]:
        """Return the place, and the line in it, that so many lines stand above of, partly guessed."""
        for index, slot in enumerate(self._slots):
            if line < slot.height:
                return index, line
            line -= slot.height
        return len(self._slots) - 1, 0

    def _draw(self, slot: Slot) -> list[Strip]:
        block = slot.block
        if isinstance(block, AnswerBlock) and block.is_streaming:
            if slot.growing is None:
                slot.growing = GrowingLines(self.width, self.palette)
            return slot.growing.strips(block.text)
        grown, slot.growing = slot.growing, None
        if grown is not None and isinstance(block, AnswerBlock) and grown.fits(block):
            return grown.strips(block.text)
        lines = block_lines(
            block,
            self.width,
            self.palette,
            is_unfolded=slot.shows_all,
            now_s=self.now_s,
            diffs=self.diff_form,
        )
        return [strip_of(line, self.width + BAR_CELLS, self.palette.base) for line in lines]

    def _forget_lines(self, slot: Slot) -> None:
        if slot.strips is not None:
            self._n_drawn_lines -= len(slot.strips)
            slot.strips = None
            self._drawn.pop(slot.key, None)


GUESSED_WIDTH: Final = 80


def estimated_height(block: Block) -> int:
    """Return a guess of a block's lines, without drawing it."""
    match block:
        case AnswerBlock():
            return 2 + block.text.count("\n") + len(block.text) // GUESSED_WIDTH
        case _:
            return 1


__all__ = ["CACHED_LINES", "Slot", "Slots", "estimated_height"]
