"""The plan as a tree: frozen state in, intents out.

Must not change a goal; what the user wants is posted as an intent. Rows belong to goals by id, so
the cursor, what is collapsed and the place of the view survive every change of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from tori_tui.domain.branches import branches_of_goal
from tori_tui.domain.goals import Goal, GoalStatus
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_duration
from tori_tui.render.branch import branch_line
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of, title_line
from tori_tui.ui.widgets.panes import Kept

GoalIntent = Literal["comment", "add", "rename", "down", "up", "focus", "drop", "rewind", "diff"]

MARKS: Final[dict[GoalStatus, str]] = {
    "completed": "✓",
    "abandoned": "✗",
    "in_progress": "▶",
    "pending": "○",
}

INDENT_CELLS: Final = 2

MAX_INDENT_CELLS: Final = 12
"""Deeper goals stand below each other, so that a description always has room."""


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A visible line of the tree: a goal, or (id None) an earlier mission or the present one."""

    goal: Goal | None
    depth: int
    text: str = ""


class GoalTree(Kept, can_focus=True):
    """The goals of the session with state, time and check."""

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

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._clock = clock
        self._state = SessionState()
        self._since_s: float | None = None
        """When the focused goal got the focus, while a run is going on."""
        self._cursor: GoalId | None = None
        self._collapsed: set[GoalId] = set()
        self._rows: list[GoalRow] = []
        self._first_row = 0

    # ── values in ──

    def show(self, state: SessionState) -> None:
        """Show the plan of a state."""
        drawn = self._drawn
        before, self._state = self._state, state
        is_running = state.status == "running"
        if not is_running:
            self._since_s = None
        elif self._since_s is None or before.tree.current_id != state.tree.current_id:
            self._since_s = self._clock()
        if before.tree.current_id == self._cursor or self._cursor is None:
            self._cursor = state.tree.current_id or self._cursor
        self._rows = list(self._visible_rows())
        self._keep_cursor_in_view()
        if drawn != self._drawn:
            self.refresh()

    @property
    def _drawn(self) -> tuple[object, ...]:
        """All that a picture of the tree depends on, the time excepted."""
        state = self._state
        place = (self._first_row, self._cursor, self._since_s, state.tree.current_id)
        return (tuple(self._rows), *place, {goal: spent for goal, spent in state.goal_stats.items() if goal})

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def tick(self) -> None:
        """Let the clock of the focused goal go on."""
        if self._since_s is not None:
            self.refresh()

    @property
    def cursor(self) -> GoalId | None:
        """The goal that keys act on."""
        return self._cursor

    @property
    def rows(self) -> tuple[GoalRow, ...]:
        """The lines of the tree, those out of view included."""
        return tuple(self._rows)

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        """Return one line of the tree."""
        width = self.size.width
        # The height may have changed since the cursor was brought into view.
        index = max(0, min(self._first_row, len(self._rows) - self.size.height)) + y
        if index >= len(self._rows):
            return Strip.blank(width, self._palette.base)
        row = self._rows[index]
        strip = strip_of(self._line(row, width), width, self._palette.base)
        if row.goal is not None and row.goal.id == self._cursor and self.has_focus:
            strip = strip.apply_style(self._palette.marked)
        return strip

    def _line(self, row: GoalRow, width: int) -> Text:
        palette = self._palette
        if row.goal is None:
            indent = " " * min(row.depth * INDENT_CELLS, MAX_INDENT_CELLS)
            return title_line(Text(indent + row.text, palette.muted), Text(), width)
        goal = row.goal
        is_current = goal.id == self._state.tree.current_id
        indent = " " * min(row.depth * INDENT_CELLS, MAX_INDENT_CELLS)
        mark, style = self._mark(goal)
        body = palette.strong if is_current else palette.base if goal.is_open else palette.muted
        left = Text.assemble(
            indent,
            (f"{mark} ", style),
            (f"{goal.id} ", palette.muted),
            (one_line(goal.description, 300), body),
        )
        if goal.id in self._collapsed and goal.children:
            left.append(f" +{sum(1 for _ in goal.walk()) - 1}", palette.muted)
        return title_line(left, self._facts(goal, is_current=is_current), width)

    def _mark(self, goal: Goal) -> tuple[str, Style]:
        palette = self._palette
        styles = {
            "completed": palette.success,
            "abandoned": palette.muted,
            "in_progress": palette.accent,
            "pending": palette.muted,
        }
        return MARKS[goal.status], styles[goal.status]

    def _facts(self, goal: Goal, *, is_current: bool) -> Text:
        palette = self._palette
        facts = Text()
        if goal.check:
            evidence = goal.evidence
            if evidence is None:
                facts.append("◇", palette.muted)
            elif evidence.exit_code == 0:
                facts.append("◆", palette.success)
            else:
                facts.append("◇", palette.error)
        spent_s = self._state.stats_of(goal.id).duration_s
        if is_current and self._since_s is not None:
            elapsed = shown_duration(max(spent_s, self._clock() - self._since_s))
            facts.append(f" ⟳ {elapsed}", palette.accent)
        elif spent_s >= 0.1:
            facts.append(f" {shown_duration(spent_s)}", palette.muted)
        return facts

    def _visible_rows(self) -> list[GoalRow]:
        tree = self._state.tree
        rows: list[GoalRow] = []
        for mission in tree.missions:
            if mission.id == tree.mission:
                continue
            n_goals = len(mission.goal_ids)
            note = f" ({counted(n_goals, 'goal')})" if n_goals else ""
            rows.append(GoalRow(None, 0, f"▪ {one_line(mission.text, 200)}{note}"))
        rows.extend(self._branch_rows(None, 0))
        for goal in tree.mission_goals:
            rows.extend(self._rows_below(goal, 0))
        if tree.mission is not None and not tree.mission_goals:
            rows.append(GoalRow(None, 0, "no plan: straight to work"))
        return rows

    def _rows_below(self, goal: Goal, depth: int) -> list[GoalRow]:
        rows = [GoalRow(goal, depth)]
        if goal.id not in self._collapsed:
            rows.extend(self._branch_rows(goal.id, depth + 1))
            for child in goal.children:
                rows.extend(self._rows_below(child, depth + 1))
        return rows

    def _branch_rows(self, goal_id: GoalId | None, depth: int) -> list[GoalRow]:
        """Return the branches that work, or worked, for a goal, or for the mission itself."""
        past = self._state.past
        return [
            GoalRow(None, depth, branch_line(branch, is_lost=past.is_lost(branch.seq)))
            for branch in branches_of_goal(self._state.branches, self._state.tree.mission, goal_id)
        ]

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
        if goal.children and goal.id not in self._collapsed:
            self._collapsed.add(goal.id)
        elif parent is not None:
            self._set_cursor(parent.id)
        self._rows = list(self._visible_rows())
        self.refresh()

    def action_expand(self) -> None:
        """Show what is below the goal."""
        if self._cursor:
            self._collapsed.discard(self._cursor)
        self._rows = list(self._visible_rows())
        self.refresh()

    def action_jump(self) -> None:
        """Ask for the goal's place in the conversation."""
        if self._cursor:
            self.post_message(self.Jumped(self._cursor))

    def action_intend(self, intent: GoalIntent) -> None:
        """Post what the user wants of the goal under the cursor."""
        if self._cursor or intent == "add":
            self.post_message(self.Intended(intent, self._cursor))

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


__all__ = ["MARKS", "GoalIntent", "GoalRow", "GoalTree"]
