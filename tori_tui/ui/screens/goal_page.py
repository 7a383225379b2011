"""One goal with all that is known of it, over the session; live while it is open.

Must not find anything out: what it shows comes from the state. Ends with what the user wants of the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Final, Literal, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.render.goal_details import Detail, Tone, goal_details, title_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import LINE_LIMIT_CHARS, bounded, prefixed, wrapped

LABEL_CELLS: Final = 13

BLOCKS: Final = ("Check", "Result", "Reason", "Files", "Comments", "Branches", "Goals below")
"""Labels that stand apart from what is above them."""

VERBATIM_LINES: Final = 60
"""Of the tail of a check's output."""


class GoalPageEnd(NamedTuple):
    """What the user wants next."""

    wish: Literal["diff", "jump", "comment"]
    goal_id: GoalId


class GoalPage(ModalScreen[GoalPageEnd | None]):
    """The details of a goal; `[` and `]` go to the goals before and after it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i,space", "dismiss(None)", "Close", show=False),
        Binding("left_square_bracket,left,h", "step(-1)", "Goal before", show=False),
        Binding("right_square_bracket,right,l", "step(1)", "Goal after", show=False),
        Binding("down,j", "scroll(1)", "Line down", show=False),
        Binding("up,k", "scroll(-1)", "Line up", show=False),
        Binding("pagedown", "scroll(12)", "Page down", show=False),
        Binding("pageup", "scroll(-12)", "Page up", show=False),
        Binding("d", "end('diff')", "What it changed", show=False),
        Binding("enter", "end('jump')", "Its work", show=False),
        Binding("c", "end('comment')", "Comment on it", show=False),
        Binding("ctrl+c", "copy", "Copy", show=False, priority=True),
    ]

    def __init__(
        self,
        palette: Palette,
        state: SessionState,
        goal_id: GoalId | None,
        *,
        running_of: Callable[[GoalId | None], float],
    ) -> None:
        super().__init__()
        self._palette = palette
        self._state = state
        self._goal_id = goal_id
        self._running_of = running_of
        self._text = Static()
        self._box = VerticalScroll(self._text, id="goal-page")

    def compose(self) -> ComposeResult:
        """Lay the page out."""
        self._box.border_subtitle = Content("Esc close · [ ] goals · d diff · c comment · Enter its work")
        yield self._box

    def on_mount(self) -> None:
        """Take the keys."""
        self._box.can_focus = False
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    def show(self, state: SessionState) -> None:
        """Show the goal as the session stands now."""
        self._state = state
        self._draw()

    def tick(self) -> None:
        """Let the time go on."""
        if self._running_of(self._goal_id):
            self._draw()

    @property
    def shown_text(self) -> str:
        """What the page says, as plain text."""
        return str(self._text.content)

    def _draw(self) -> None:
        width = self._box.scrollable_content_region.width
        if width > 0:
            self._box.border_title = Content(title_of(self._state, self._goal_id))
            details = goal_details(self._state, self._goal_id, self._running_of(self._goal_id))
            self._text.update(Text("\n").join(page_lines(details, width, self._palette)))

    def action_step(self, step: int) -> None:
        """Go to the goal before or after this one."""
        ids = [goal.id for root in self._state.tree.mission_goals for goal in root.walk()]
        if not ids:
            return
        at = ids.index(self._goal_id) + step if self._goal_id in ids else 0
        self._goal_id = ids[max(0, min(at, len(ids) - 1))]
        self._box.scroll_home(animate=False)
        self._draw()

    def action_scroll(self, lines: int) -> None:
        """Move what is shown."""
        self._box.scroll_relative(y=lines, animate=False)

    def action_end(self, wish: Literal["diff", "jump", "comment"]) -> None:
        """Close, and do something with the goal."""
        if self._goal_id is not None:
            self.dismiss(GoalPageEnd(wish, self._goal_id))

    def action_copy(self) -> None:
        """Copy the selection, else close."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        else:
            self.dismiss(None)


def page_lines(details: Iterator[Detail], width: int, palette: Palette) -> Iterator[Text]:
    """Yield the lines, each at most so wide, with the labels in a column of their own."""
    styles: dict[Tone, Style] = {
        "plain": palette.base,
        "strong": palette.strong,
        "muted": palette.muted,
        "good": palette.success,
        "bad": palette.error,
    }
    for number, detail in enumerate(details):
        if number and detail.label in BLOCKS:
            yield Text("")
        text, _ = bounded(detail.text, VERBATIM_LINES, keep_tail=detail.is_verbatim)
        body = Text(text[: LINE_LIMIT_CHARS * VERBATIM_LINES], styles[detail.tone])
        bar = Text("│ ", palette.border) if detail.is_verbatim else Text()
        lines = [
            Text.assemble(bar, line) for line in wrapped(body, max(8, width - LABEL_CELLS - bar.cell_len))
        ]
        label = Text(f"{detail.label:<{LABEL_CELLS}}", palette.muted)
        yield from prefixed(lines, label, Text(" " * LABEL_CELLS))


__all__ = ["GoalPage", "GoalPageEnd", "page_lines"]
