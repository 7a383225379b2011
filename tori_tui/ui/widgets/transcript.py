"""The conversation: blocks in a scrolling view, found, folded, copied and opened.

Must not draw, and must not reach what a block names; it asks its screen for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

from textual import events
from textual.binding import BindingType
from textual.message import Message

from tori_tui.domain.ids import GoalId
from tori_tui.render.file_links import FileLink
from tori_tui.render.wording import diff_of, title_of
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.transcript.blocks import Block, CallBlock, CheckpointBlock
from tori_tui.ui.transcript.diffs import DiffForm, is_wide_enough
from tori_tui.ui.transcript.finding import Found, block_text
from tori_tui.ui.transcript.layout import can_fold
from tori_tui.ui.transcript.lines import BAR_CELLS
from tori_tui.ui.transcript.links import link_under, links_of
from tori_tui.ui.transcript.slots import Slot
from tori_tui.ui.transcript.viewport import Place
from tori_tui.ui.widgets.block_view import REDRAW_INTERVAL_S, BlockView, copied

SEARCHED_BLOCKS: Final = 50
"""Up from the end of the view, for one that names a file; some screens."""

CheckpointWish = Literal["diff", "rewind"]


class Transcript(BlockView, can_focus=True):
    """Blocks, newest last, and what the keys and the mouse do with them."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        width: 1fr;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("transcript")

    class CopyRequested(Message):
        """The user wants a text on the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class PageWanted(Message):
        """The user wants a text in his editor."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class DiffWanted(Message):
        """The user wants a diff on a page of its own."""

        def __init__(self, title: str, diff: str) -> None:
            super().__init__()
            self.title = title
            self.diff = diff

    class FilesWanted(Message):
        """The user wants one of the files that a block names; none is named where there are no links."""

        def __init__(self, links: tuple[FileLink, ...], *, is_clicked: bool = False) -> None:
            super().__init__()
            self.links = links
            self.is_clicked = is_clicked

    class CheckpointChosen(Message):
        """The user wants what changed at a checkpoint, or to go back to it."""

        def __init__(self, block: CheckpointBlock, wish: CheckpointWish) -> None:
            super().__init__()
            self.block = block
            self.wish = wish

    # ── going to places ──

    def go_to_goal(self, goal_id: GoalId) -> bool:
        """Show where work on a goal begins; say whether there is such a place."""
        index = self._slots.first_of_goal(goal_id)
        if index is None:
            return False
        self._view.marked = self._slots.at(index).key
        self._view.go_to(Place(self._view.marked, 0))
        self._changed()
        return True

    def show_line(self, line: int) -> None:
        """Bring a line of the first block into view."""
        if len(self._slots):
            self._settle()
            self._view.show(Place(self._slots.at(0).key, max(0, line)))
            self._changed()

    def find(self, words: str, step: int = -1, *, stays: bool = True) -> Found:
        """Show a hit, unfolding its block: the nearest one, or the next in a direction."""
        self._settle()
        self._finder.start(words)
        start = self._view.marked if self._view.marked is not None else self._last_key
        key = self._finder.next_key(step, start, stays=stays)
        if key is not None:
            self._view.unfold(key)
            self._view.show(self._finder.place_in(key))
        self._changed()
        return self._finder.found()

    # ── moving, folding, copying ──

    def action_mark(self, step: int) -> None:
        """Move the mark to the next or previous block; on along the hits of a search."""
        if step > 0 and self._finder.words:
            self.action_next_hit(step)
            return
        self._settle()
        self._view.mark(step)
        self._changed()

    def action_next_hit(self, step: int) -> None:
        """Show the next or previous hit of the search."""
        if self._finder.words:
            self.find(self._finder.words, step, stays=False)

    def action_goal(self, step: int) -> None:
        """Show where the next or previous goal begins."""
        self._settle()
        self._view.mark_goal(step)
        self._changed()

    # ── what keys do with the marked block ──

    @property
    def _marked(self) -> Slot | None:
        return self._slots.find(self._view.marked) if self._view.marked is not None else None

    def action_edit_block(self) -> None:
        """Ask for the marked block in the editor, whole."""
        if (slot := self._marked) is not None:
            self.post_message(self.PageWanted(block_text(slot.block).strip("\n") + "\n"))

    def action_copy_block(self) -> None:
        """Copy the marked block."""
        if (slot := self._marked) is not None:
            lines = self._slots.lines(self._slots.index_of(slot.key))
            text = "\n".join(copied(strip.text) for strip in lines)
            self.post_message(self.CopyRequested(text.strip("\n")))

    def action_open_files(self) -> None:
        """Ask for the files that the marked block names, else the newest block that names one."""
        self._settle()
        blocks = [self._marked.block] if self._marked is not None else self._blocks_up_from_view()
        links = next((links for block in blocks if (links := links_of(block))), ())
        self.post_message(self.FilesWanted(links))

    def _blocks_up_from_view(self) -> Iterator[Block]:
        last = self._last_key
        index = self._slots.index_of(last) if last is not None else -1
        for at in range(index, max(-1, index - SEARCHED_BLOCKS), -1):
            yield self._slots.at(at).block

    def action_show_change(self) -> None:
        """Ask for what changed at the marked checkpoint, or by the marked call, on a page of its own."""
        if (slot := self._marked) is None:
            return
        if isinstance(slot.block, CheckpointBlock):
            self.post_message(self.CheckpointChosen(slot.block, "diff"))
        elif isinstance(slot.block, CallBlock) and (diff := diff_of(slot.block)):
            self.post_message(self.DiffWanted(title_of(slot.block), diff))

    def action_go_back(self) -> None:
        """Ask to go back to the marked checkpoint."""
        if self._marked is not None and isinstance(block := self._marked.block, CheckpointBlock):
            self.post_message(self.CheckpointChosen(block, "rewind"))

    def action_switch_diffs(self) -> None:
        """Show diffs side by side, or again one side below the other."""
        width = self.size.width - BAR_CELLS
        self.show_diffs("unified" if is_wide_enough(width, self.diff_form) else "side")

    @property
    def diff_form(self) -> DiffForm:
        """How diffs are shown."""
        return self._slots.diff_form

    def show_diffs(self, form: DiffForm) -> None:
        """Show diffs in another form."""
        self._slots.set_diff_form(form)
        self._changed()

    def action_toggle_fold(self, key: int | None = None) -> None:
        """Unfold or fold a block: the given, the marked, or else the newest that can."""
        self._settle()
        if key is None and self._marked is not None and isinstance(self._marked.block, CheckpointBlock):
            self.action_show_change()
            return
        self._view.toggle_fold(key)
        self._changed()

    def on_click(self, event: events.Click) -> None:
        """Unfold by a click on a block's title; open what a click is on."""
        self._settle()
        rows = self._view.rows
        if self.is_bar(event.x) or self.text_selection is not None or event.y >= len(rows):
            return
        place, strip = rows[event.y]
        slot = self._slots.find(place.key)
        if slot is None:
            return
        if self._view.is_title(event.y) and can_fold(slot.block):
            self._view.marked = place.key
            self.action_toggle_fold(place.key)
        elif isinstance(slot.block, CheckpointBlock):
            self._view.marked = place.key
            self.action_show_change()
        else:
            lines = [line.text for line in self._slots.lines(self._slots.index_of(place.key))]
            x = len(strip.crop(0, event.x).text)
            if link := link_under(slot.block, lines, place.line, x):
                self.post_message(self.FilesWanted((link,), is_clicked=True))


__all__ = ["REDRAW_INTERVAL_S", "CheckpointWish", "Transcript"]
