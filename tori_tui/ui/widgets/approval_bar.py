"""A question for permission: the whole command or diff, and what the keys do.

Must not approve anything by a key that was on its way when the question came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.ids import ApprovalId
from tori_tui.render.diff import looks_like_diff
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.code import highlighted
from tori_tui.ui.transcript.diffs import diff_lines
from tori_tui.ui.transcript.lines import bounded, shown, strip_of, title_line, wrapped

GUARD_S: Final = 0.3
"""Keys that come this soon after the question, or after such a key, were typed for something else."""

DETAIL_LIMIT_LINES: Final = 20_000


ApprovalScope = Literal["once", "goal", "session", "always"]


class ApprovalBar(Widget, can_focus=True):
    """Shows one question; the others wait behind it."""

    DEFAULT_CSS = """
    ApprovalBar {
        height: auto;
        max-height: 60%;
        display: none;
        &.-asking { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("approval")

    class Decided(Message):
        """The user allowed a call, once or for longer."""

        def __init__(self, approval_id: ApprovalId, scope: ApprovalScope) -> None:
            super().__init__()
            self.approval_id = approval_id
            self.scope = scope

    class DenialBegun(Message):
        """The user wants to deny; the reason is still to be written."""

        def __init__(self, approval_id: ApprovalId) -> None:
            super().__init__()
            self.approval_id = approval_id

    class TypedOn(Message):
        """A key that was meant for the draft."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._clock = clock
        self._approval: ApprovalChanged | None = None
        self._n_waiting = 0
        self._asked_at_s = 0.0
        self._lines: list[Text] = []
        self._lines_width = 0
        self._first = 0

    def show(self, waiting: tuple[ApprovalChanged, ...]) -> None:
        """Ask the first of the questions that wait; none hides the bar."""
        first = waiting[0] if waiting else None
        is_new = first is not None and (
            self._approval is None or self._approval.approval_id != first.approval_id
        )
        has_changed = first != self._approval or len(waiting) != self._n_waiting
        self._approval, self._n_waiting = first, len(waiting)
        if is_new:
            self._asked_at_s = self._clock()
            self._first = 0
        if has_changed:
            self._lines_width = 0
            self.set_class(first is not None, "-asking")
            self.refresh(layout=True)

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self._lines_width = 0
        self.refresh()

    @property
    def approval(self) -> ApprovalChanged | None:
        """The question that is asked."""
        return self._approval

    # ── drawing ──

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the lines that the whole question needs."""
        return 2 + len(self._body(width))

    def render_line(self, y: int) -> Strip:
        """Return one line of the bar."""
        width, height = self.size.width, self.size.height
        palette = self._palette
        ground = palette.panel
        if self._approval is None:
            return Strip.blank(width, ground)
        if y == 0:
            return strip_of(self._title(width), width, ground)
        if y == height - 1:
            return strip_of(self._keys(width), width, ground)
        body = self._body(width)
        index = self._first + y - 1
        line = body[index] if index < len(body) else Text()
        return strip_of(Text.assemble("  ", line), width, ground)

    def _title(self, width: int) -> Text:
        palette, approval = self._palette, self._approval
        if approval is None:
            return Text()
        left = Text.assemble(
            (" ? ", palette.warning),
            ("Allow ", palette.warning),
            (one_line(approval.title, 400), palette.strong),
        )
        right = Text(f"1 of {self._n_waiting} " if self._n_waiting > 1 else "", palette.muted)
        return title_line(left, right, width)

    def _keys(self, width: int) -> Text:
        palette = self._palette
        text = Text(" ")
        for key, word in (
            ("y", "once"),
            ("g", "this goal"),
            ("s", "this session"),
            ("a", "always"),
            ("n", "deny …"),
        ):
            text.append(f" {key} ", palette.accent)
            text.append(f"{word}  ", palette.muted)
        hidden = len(self._body(width)) - max(0, self.size.height - 2)
        right = Text()
        if hidden > 0:
            left_over = hidden - self._first
            right = Text(f"↑↓ {left_over:,} more lines " if left_over > 0 else "↑↓ end ", palette.warning)
        return title_line(text, right, width)

    def _body(self, width: int) -> list[Text]:
        if self._lines_width != width:
            self._lines_width = width
            self._lines = self._made_body(width - 4)
        return self._lines

    def _made_body(self, width: int) -> list[Text]:
        approval = self._approval
        if approval is None:
            return []
        return [*self._detail(approval, width), *self._told(approval, width)]

    def _told(self, approval: ApprovalChanged, width: int) -> list[Text]:
        """Say why it is asked, and which rule an answer for longer makes."""
        lines = [one_line(approval.reason, 400)] if approval.reason else []
        lines += [f"goal, session, always allow exactly: {one_line(rule, 2_000)}" for rule in approval.rules]
        return [part for line in lines for part in wrapped(Text(line, self._palette.muted), width)]

    def _detail(self, approval: ApprovalChanged, width: int) -> list[Text]:
        if not approval.detail:
            return []
        detail, n_left_out = bounded(approval.detail, DETAIL_LIMIT_LINES)
        if looks_like_diff(detail):
            lines = diff_lines(detail, width, self._palette)
        else:
            language = "bash" if approval.tool.startswith("bash") else ""
            code = highlighted(shown(detail), language, self._palette)
            lines = [part for line in code for part in wrapped(line, width)]
        if n_left_out:
            lines.append(Text(f"… {n_left_out:,} more lines", self._palette.warning))
        return lines

    # ── keys ──

    def on_focus(self) -> None:
        """Keys that follow at once were typed for what had the focus before."""
        self._asked_at_s = self._clock()

    def on_key(self, event: events.Key) -> None:
        """Keep keys that were on their way from deciding; they go to the draft."""
        now_s = self._clock()
        if now_s - self._asked_at_s >= GUARD_S:
            return
        if event.is_printable and event.character:
            self._asked_at_s = now_s
            event.stop()
            event.prevent_default()
            self.post_message(self.TypedOn(event.character))
        elif event.key == "enter":
            event.stop()

    def action_decide(self, scope: ApprovalScope) -> None:
        """Allow the call."""
        if self._approval is not None:
            self.post_message(self.Decided(self._approval.approval_id, scope))

    def action_deny(self) -> None:
        """Ask for the reason of a denial."""
        if self._approval is not None:
            self.post_message(self.DenialBegun(self._approval.approval_id))

    def action_scroll_lines(self, lines: int) -> None:
        """Move through the command or diff."""
        last = max(0, len(self._body(self.size.width)) - max(1, self.size.height - 2))
        self._first = max(0, min(self._first + lines, last))
        self.refresh()

    def action_scroll_pages(self, pages: int) -> None:
        """Move by what is in view."""
        self.action_scroll_lines(pages * max(1, self.size.height - 3))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(-3)


__all__ = ["GUARD_S", "ApprovalBar"]
