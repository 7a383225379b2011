"""A text area in which a large paste and an image are one character, and so is a base with its marks.

Must not know what the text is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.cells import split_graphemes
from textual import events
from textual.document._document import Location, Selection
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tori_tui.domain.shown_image import ShownImage
from tori_tui.ui.chips import Chips, Found, dropped_images, may_be_unfolded, mentioned_images


class ChipArea(TextArea):
    """Takes pastes of any size; the cursor stands before or behind what stands for much, never in it."""

    class ImagesWanted(Message):
        """Words of the text may be images: each is to be shown, or left as it is."""

        def __init__(self, found: tuple[Found, ...]) -> None:
            super().__init__()
            self.found = found

    class ClipboardWanted(Message):
        """The user wants the image in the clipboard, or pasted what is no text."""

    class PasteOpened(Message):
        """A paste is to be shown in the editor: it is too large for the input, or cannot be drawn."""

        def __init__(self, number: int, text: str) -> None:
            super().__init__()
            self.number = number
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        self.chips = Chips()  # first: the cursor's place is looked at while the rest is made
        super().__init__(
            id=id, soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, show_line_numbers=False
        )
        self.cursor_blink = False
        self._awaited: set[str] = set()
        """Words of the text of which it is being found out whether they are images."""
        self._looked_at: set[str] = set()
        """Those of which it is known that they are none."""

    @property
    def full_text(self) -> str:
        """The text with every paste in full."""
        return self.chips.full(self.text)

    # ── what stands for much ──

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if not text:
            # A terminal whose clipboard holds an image sends an empty paste.
            self.post_message(self.ClipboardWanted())
            return
        shown = self.chips.shown(text)
        self._put(shown)
        if shown == text and (paths := dropped_images(text)):
            self.want_images(((text, paths),))

    def _put(self, text: str) -> None:
        """Put a text in the place of the selection, as one step of undo."""
        self.history.checkpoint()
        self._replace_via_keyboard(text, *self.selection)
        self.history.checkpoint()

    def put_all(self, text: str) -> None:
        """Put a text in the place of all that is written; undo brings that back."""
        self.history.checkpoint()
        self.replace(self.chips.shown(text), self.document.start, self.document.end)
        self.history.checkpoint()
        self.move_cursor(self.document.end)

    def want_images(self, found: tuple[Found, ...]) -> None:
        """Have it found out whether words of the text are images."""
        self._awaited.update(raw for raw, _ in found)
        self.post_message(self.ImagesWanted(found))

    @property
    def unknown_images(self) -> tuple[Found, ...]:
        """Words of the text that mention images of which nobody was asked yet."""
        known = self._awaited | self._looked_at
        return tuple(found for found in mentioned_images(self.text) if found[0] not in known)

    def show_images(self, raw: str, images: tuple[ShownImage, ...]) -> None:
        """Put images in the place of the words that name them, or at the cursor where none do.

        Without images the words stay as they are.
        """
        self._awaited.discard(raw)
        if not images:
            self._looked_at.add(raw)
            return
        words = " ".join(self.chips.of_image(image) for image in images)
        place = self._place_of(raw) if raw else None
        if place is None:
            self._put(words)
            return
        self.history.checkpoint()
        self.replace(words, *place)
        self.history.checkpoint()

    def _place_of(self, raw: str) -> tuple[Location, Location] | None:
        """Return where a text stands, the last place first."""
        for row in range(self.document.line_count - 1, -1, -1):
            column = self.document.get_line(row).rfind(raw)
            if column >= 0:
                return (row, column), (row, column + len(raw))
        return None

    def action_unfold_paste(self) -> None:
        """Put the paste at the cursor into the text; one that is too large is shown in the editor."""
        found = self.paste_at_cursor
        if found is None:
            return
        number, (start, end) = found
        text, row = self.chips.paste(number), self.cursor_location[0]
        if not may_be_unfolded(text):
            self.post_message(self.PasteOpened(number, text))
            return
        self.history.checkpoint()
        self.replace(text, (row, start), (row, end))
        self.history.checkpoint()

    def change_paste(self, number: int, text: str) -> None:
        """Let a paste be what the user made of it."""
        for row in range(self.document.line_count):
            line = self.document.get_line(row)
            for start, end in self.chips.spans(line):
                found = self.chips.paste_at(line, start)
                if found is not None and found[0] == number:
                    self.replace(self.chips.changed_paste(number, text), (row, start), (row, end))
                    return

    @property
    def paste_at_cursor(self) -> tuple[int, tuple[int, int]] | None:
        """The paste whose word the cursor touches, and its place in the line."""
        row, column = self.cursor_location
        return self.chips.paste_at(self.document.get_line(row), column)

    # ── the cursor ──

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._leave_lines()
        super()._undo_batch(edits)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._leave_lines()
        super()._redo_batch(edits)

    def _leave_lines(self) -> None:
        """Go where there is a line in any case: Textual looks for the cursor while lines are taken away."""
        self.selection = Selection.cursor((0, 0))

    def get_cursor_left_location(self) -> Location:
        """Return the place before the character at the left, as people count characters."""
        row, column = self.cursor_location
        starts = [start for start, _ in self._characters(row) if start < column]
        return (row, starts[-1]) if starts else super().get_cursor_left_location()

    def get_cursor_right_location(self) -> Location:
        """Return the place behind the character at the right."""
        row, column = self.cursor_location
        ends = [end for _, end in self._characters(row) if end > column]
        return (row, ends[0]) if ends else super().get_cursor_right_location()

    def get_cursor_word_left_location(self) -> Location:
        """Return the place a word further left."""
        return self._outside_chips(super().get_cursor_word_left_location(), "left")

    def get_cursor_word_right_location(self) -> Location:
        """Return the place a word further right."""
        return self._outside_chips(super().get_cursor_word_right_location(), "right")

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        first, last = sorted((start, end))
        return super()._delete_via_keyboard(
            self._outside_chips(first, "left"), self._outside_chips(last, "right")
        )

    def cut(self, start: Location, end: Location) -> str:
        """Take a text out, and what stands for much whole; return it."""
        self.history.checkpoint()
        done = self._delete_via_keyboard(start, end)
        self.history.checkpoint()
        return done.replaced_text if done is not None else ""

    def _validate_selection(self, selection: Selection) -> Selection:
        start, end = super()._validate_selection(selection)
        return Selection(self._outside_chips(start, "nearest"), self._outside_chips(end, "nearest"))

    def _outside_chips(self, location: Location, side: Literal["left", "right", "nearest"]) -> Location:
        """Return a place at the edge of what stands for much, for one that is inside of it."""
        row, column = location
        if row >= self.document.line_count:
            return location  # Textual's way to say: the end of the last line
        for start, end in self.chips.spans(self.document.get_line(row)):
            if start < column < end:
                is_left = side == "left" or (side == "nearest" and column - start < end - column)
                return row, start if is_left else end
        return location

    def _characters(self, row: int) -> list[tuple[int, int]]:
        """Return start and end of each character of a line."""
        line = self.document.get_line(row)
        chips = self.chips.spans(line)
        characters = [(start, end) for start, end, _ in split_graphemes(line)[0]]
        if not chips:
            return characters
        outside = (place for place in characters if not any(start <= place[0] < end for start, end in chips))
        return sorted((*outside, *chips))


__all__ = ["ChipArea"]
