"""The comments that wait for their effect, above the input: shown, and put in order where that has the focus.

Must not change anything itself; what the user wants of them is posted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.events import CommentReceived
from tori_tui.domain.ids import CommentId
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of, title_line

ROWS: Final = 3
"""At most so many; the newest ones."""

FOCUSED_ROWS: Final = 8

TEXT_LIMIT_CHARS: Final = 300


class WaitingList(Widget, can_focus=True):
    """One row for each, the newest last."""

    DEFAULT_CSS = """
    WaitingList { display: none; height: auto; padding: 0 2; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("waiting")

    class Chosen(Message):
        """The user wants one back."""

        def __init__(self, comment: CommentReceived) -> None:
            super().__init__()
            self.comment = comment

    class Dropped(Message):
        """The user wants one to have no effect."""

        def __init__(self, comment: CommentReceived) -> None:
            super().__init__()
            self.comment = comment

    class Moved(Message):
        """The user wants one to have its effect before another, or (None) last."""

        def __init__(self, comment: CommentReceived, before: CommentId | None) -> None:
            super().__init__()
            self.comment = comment
            self.before = before

    class Left(Message):
        """The user wants to write again."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._comments: tuple[CommentReceived, ...] = ()
        self._marked: CommentId | None = None

    @property
    def newest(self) -> CommentReceived | None:
        """The one that a key takes back."""
        return self._comments[-1] if self._comments else None

    def show(self, comments: Sequence[CommentReceived]) -> None:
        """Show what waits now."""
        if tuple(comments) == self._comments:
            return
        place = self._at
        self._comments = tuple(comments)
        is_gone = self._marked not in [comment.comment_id for comment in comments]
        if self._comments and self._marked is not None and is_gone:
            self._mark(min(place, len(comments) - 1))
        if not comments and self.has_focus:
            self.post_message(self.Left())
        self._fit()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    # ── keys and mouse ──

    @property
    def _at(self) -> int:
        """Which one is marked; the newest before the user chose one."""
        ids = [comment.comment_id for comment in self._comments]
        return ids.index(self._marked) if self._marked in ids else max(0, len(ids) - 1)

    def _mark(self, index: int) -> None:
        self._marked = self._comments[index].comment_id
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Make room for more of them while they are put in order."""
        super().watch_has_focus(has_focus)
        self._marked = self._marked if has_focus else None
        self._fit()

    def _fit(self) -> None:
        self.display = bool(self._comments)
        self.styles.height = min(len(self._comments), self._rows)
        self.refresh()

    def action_mark(self, by: int) -> None:
        """Mark another one."""
        if self._comments:
            self._mark(max(0, min(self._at + by, len(self._comments) - 1)))

    def action_take_back(self) -> None:
        """Take the marked one back into the input."""
        if self._comments:
            self.post_message(self.Chosen(self._comments[self._at]))

    def action_drop(self) -> None:
        """Let the marked one have no effect."""
        if self._comments:
            self.post_message(self.Dropped(self._comments[self._at]))

    def action_move(self, by: int) -> None:
        """Let the marked one have its effect one place earlier or later."""
        place = self._at + by
        if not 0 <= place < len(self._comments):
            return
        comment, others = self._comments[self._at], [*self._comments]
        others.remove(comment)
        self._marked = comment.comment_id
        before = others[place].comment_id if place < len(others) else None
        self.post_message(self.Moved(comment, before))

    def action_leave(self) -> None:
        """Go back to the input."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Take the one under the pointer back."""
        event.stop()
        if event.y < len(self._shown):
            self.post_message(self.Chosen(self._shown[event.y]))

    # ── drawing ──

    @property
    def _rows(self) -> int:
        return FOCUSED_ROWS if self.has_focus else ROWS

    @property
    def _first(self) -> int:
        """Which one stands in the first row: the newest are in view, and the marked one is."""
        newest = max(0, len(self._comments) - self._rows)
        return min(newest, self._at)

    @property
    def _shown(self) -> tuple[CommentReceived, ...]:
        return self._comments[self._first : self._first + self._rows]

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width, palette = self.size.width, self._palette
        shown = self._shown
        if y >= len(shown):
            return strip_of(Text(), width, palette.base)
        is_marked = self.has_focus and self._first + y == self._at
        comment = shown[y]
        aim = f"{comment.aim.replace(':', ' ')}: " if comment.aim else ""
        left = Text.assemble(
            ("▸ " if is_marked else "◌ ", palette.warning),
            (aim, palette.accent),
            (one_line(comment.text, TEXT_LIMIT_CHARS), palette.strong if is_marked else palette.muted),
        )
        line = title_line(left, Text(self._told(y, is_marked), palette.muted), width)
        return strip_of(line, width, palette.marked if is_marked else palette.base)

    def _told(self, y: int, is_marked: bool) -> str:
        if self.has_focus:
            return "Enter edit · x delete · m M move" if is_marked else ""
        if y == len(self._shown) - 1:
            return "waits · ↑ edit · F6 order" if len(self._comments) > 1 else "waits · ↑ edit"
        n_above = len(self._comments) - len(self._shown)
        return f"+{n_above} more" if n_above and not y else ""


__all__ = ["ROWS", "WaitingList"]
