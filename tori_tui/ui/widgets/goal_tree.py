"""The plan as a tree: frozen state in, intents out.

Must not change a goal; what the user wants is posted as an intent. Rows belong to goals by id, so
the cursor, what is collapsed and the place of the view survive every change of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip

from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.goal_clock import GoalClock
from tori_tui.ui.goal_filter import hits, read_filter
from tori_tui.ui.goal_lines import TreeLook
from tori_tui.ui.goal_rows import GoalRow, visible_rows
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of
from tori_tui.ui.widgets.panes import Kept

GoalIntent = Literal["comment", "add", "rename", "down", "up", "focus", "drop", "rewind", "diff"]

TITLE = "Goals"


class GoalTree(Kept, can_focus=True):
    """The goals of the session with state, check and time; where there is room, also tokens and money."""

    DEFAULT_CSS = """
    GoalTree {
        height: 1fr;
        width: 1fr;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("goals")

    class Jumped(Message):
        """The user wants to see where work on a goal began."""

        def __init__(self, goal_id: GoalId) -> None:
            super().__init__()
            self.goal_id = goal_id

    class Intended(Message):
        """The user wants something of a goal; None is the plan's top level."""

        def __init__(self, intent: GoalIntent, goal_id: GoalId | None) -> None:
            super().__init__()
            self.intent = intent
            self.goal_id = goal_id

    class DetailsWanted(Message):
        """The user wants to see all that is known of a goal; None is the session."""

        def __init__(self, goal_id: GoalId | None) -> None:
            super().__init__()
            self.goal_id = goal_id

    class FilterWanted(Message):
        """The user wants to look for goals."""

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = Content(TITLE)
        self._palette = palette
        self.times = GoalClock(clock)
        self._state = SessionState()
        self._cursor: GoalId | None = None
        self._collapsed: set[GoalId] = set()
        self._filter = ""
        self._rows: list[GoalRow] = []
        self._first_row = 0

    # ── values in ──

    def show(self, state: SessionState) -> None:
        """Show the plan of a state."""
        drawn = self._drawn
        before, self._state = self._state, state
        self.times.show(state)
        if before.tree.current_id == self._cursor or self._cursor is None:
            self._cursor = state.tree.current_id or self._cursor
        self._lay_out()
        if drawn != self._drawn:
            self.refresh()

    @property
    def _drawn(self) -> tuple[object, ...]:
        """All that a picture of the tree depends on, the time excepted."""
        state = self._state
        place = (self._first_row, self._cursor, self.times.since_s, state.tree.current_id, state.status)
        return (tuple(self._rows), *place, {goal: spent for goal, spent in state.goal_stats.items() if goal})

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def tick(self) -> None:
        """Let the clock of the focused goal go on."""
        if self.times.since_s is not None:
            self.refresh()

    @property
    def cursor(self) -> GoalId | None:
        """The goal that keys act on."""
        return self._cursor

    @property
    def rows(self) -> tuple[GoalRow, ...]:
        """The lines of the tree, those out of view included."""
        return tuple(self._rows)

    # ── filter ──

    @property
    def filter_text(self) -> str:
        """What is looked for; empty where all goals are shown."""
        return self._filter

    def filter(self, text: str) -> int:
        """Show only the goals that fit, with those above them, and return how many fit."""
        self._filter = text.strip()
        self.border_title = Content(f"{TITLE} / {self._filter}" if self._filter else TITLE)
        self._lay_out()
        found = [row.goal.id for row in self._rows if row.goal is not None and row.is_hit]
        if self._filter and found and self._cursor not in found:
            self._set_cursor(found[0])
        self.refresh()
        return len(found)

    def _lay_out(self) -> None:
        found = None
        if self._filter:
            goals = (goal for root in self._state.tree.mission_goals for goal in root.walk())
            found = hits(goals, read_filter(self._filter))
        self._rows = visible_rows(self._state, self._collapsed, found)
        self._keep_cursor_in_view()

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        """Return one line of the tree."""
        width = self.size.width
        # The height may have changed since the cursor was brought into view.
        index = max(0, min(self._first_row, len(self._rows) - self.size.height)) + y
        if index >= len(self._rows):
            return Strip.blank(width, self._palette.base)
        row = self._rows[index]
        strip = strip_of(self._look.line(row, width), width, self._palette.base)
        if row.goal is not None and row.goal.id == self._cursor and self.has_focus:
            strip = strip.apply_style(self._palette.marked)
        return strip

    @property
    def _look(self) -> TreeLook:
        times, is_filtered = self.times, bool(self._filter)
        return TreeLook(self._palette, self._state, self._collapsed, is_filtered, times.running_s, times.path)

    # ── moving ──

    def _goal_rows(self) -> list[tuple[int, Goal]]:
        return [(index, row.goal) for index, row in enumerate(self._rows) if row.goal is not None]

    def _keep_cursor_in_view(self) -> None:
        height = self.size.height
        if height == 0:
            return
        self._first_row = max(0, min(self._first_row, len(self._rows) - height))
        for index, goal in self._goal_rows():
            if goal.id == self._cursor:
                self._first_row = min(max(self._first_row, index - height + 1), index)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._keep_cursor_in_view()

    def action_move_cursor(self, step: int) -> None:
        """Move the cursor to the goal above or below."""
        goals = [goal.id for _, goal in self._goal_rows()]
        if not goals:
            return
        at = goals.index(self._cursor) + step if self._cursor in goals else 0
        self._set_cursor(goals[max(0, min(at, len(goals) - 1))])

    def _set_cursor(self, goal_id: GoalId) -> None:
        self._cursor = goal_id
        self._keep_cursor_in_view()
        self.refresh()

    def action_collapse(self) -> None:
        """Hide what is below the goal, or go to its parent."""
        goal = self._state.tree.find(self._cursor) if self._cursor else None
        if goal is None:
            return
        parent = self._state.tree.parent_of(goal.id)
        if goal.children and goal.id not in self._collapsed and not self._filter:
            self._collapsed.add(goal.id)
        elif parent is not None:
            self._set_cursor(parent.id)
        self._lay_out()
        self.refresh()

    def action_expand(self) -> None:
        """Show what is below the goal."""
        if self._cursor:
            self._collapsed.discard(self._cursor)
        self._lay_out()
        self.refresh()

    # ── intents ──

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Esc to the screen where no filter holds."""
        return bool(self._filter) if action == "clear_filter" else True

    def action_jump(self) -> None:
        """Ask for the goal's place in the conversation."""
        if self._cursor:
            self.post_message(self.Jumped(self._cursor))

    def action_intend(self, intent: GoalIntent) -> None:
        """Post what the user wants of the goal under the cursor."""
        if self._cursor or intent == "add":
            self.post_message(self.Intended(intent, self._cursor))

    def action_details(self) -> None:
        """Ask for all that is known of the goal under the cursor."""
        self.post_message(self.DetailsWanted(self._cursor))

    def action_filter(self) -> None:
        """Ask for the line in which a filter is typed."""
        self.post_message(self.FilterWanted())

    def action_clear_filter(self) -> None:
        """Show all goals again."""
        self.filter("")

    def on_click(self, event: events.Click) -> None:
        """Move the cursor by a click, jump by a double one."""
        index = self._first_row + event.y
        goal = self._rows[index].goal if index < len(self._rows) else None
        if goal is not None:
            self._set_cursor(goal.id)
            if event.chain > 1:
                self.action_jump()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll by the wheel."""
        self._scroll(1, event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll by the wheel."""
        self._scroll(-1, event)

    def _scroll(self, lines: int, event: events.MouseEvent) -> None:
        event.stop()
        last = max(0, len(self._rows) - self.size.height)
        self._first_row = max(0, min(self._first_row + lines, last))
        self.refresh()


__all__ = ["GoalIntent", "GoalTree"]
