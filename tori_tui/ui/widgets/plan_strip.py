"""The plan on one line, where the window is too narrow for the tree.

Must not show what does not fit; the current goal always does.
"""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.goals import Goal
from tori_tui.domain.state import SessionState
from tori_tui.render.safe_text import one_line
from tori_tui.ui.goal_clock import GoalClock
from tori_tui.ui.goal_lines import TreeLook
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of, title_line

ROOTS_SHOWN: Final = 12

ABOVE_CHARS: Final = 18
"""Of the title of each goal above the current one."""

STEP: Final = " › "

APART: Final = " · "
"""Between the picture of the plan, a mark for each root goal, and the goal that is told."""


class PlanStrip(Widget):
    """The root goals' marks, the way to the current goal, how it stands, and the progress.

    Args:
        times: Counts the current goal's time.
    """

    DEFAULT_CSS = """
    PlanStrip { height: 1; display: none; }
    """

    def __init__(self, palette: Palette, times: GoalClock, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._times = times
        self._state = SessionState()

    def show(self, state: SessionState) -> None:
        """Show the plan of a state."""
        before, self._state = self._state, state
        if (before.tree, before.status) != (state.tree, state.status) or self._times.since_s is not None:
            self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def tick(self) -> None:
        """Let the clock of the current goal go on."""
        if self.display and self._times.since_s is not None:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        width = self.size.width
        return strip_of(self._line(width), width, self._palette.base)

    def _line(self, width: int) -> Text:
        palette, tree = self._palette, self._state.tree
        done, total = tree.progress()
        if not total:
            return Text(" no plan", palette.muted) if tree.mission else Text()
        look = TreeLook(palette, self._state, running_s=self._times.running_s, focused_path=self._times.path)
        left = Text(" ").append_text(_roots(tree.mission_goals, look))
        goal = tree.current or tree.next_pending()
        right = Text(f" {done}/{total} ", palette.muted)
        if goal is not None:
            right = Text.assemble(look.facts(goal, 0), right)
            room = width - left.cell_len - right.cell_len - 4
            left.append_text(self._way(goal, look, room))
        return title_line(left, right, width)

    def _way(self, goal: Goal, look: TreeLook, room: int) -> Text:
        """Return the goal behind those above it: with their titles where these fit, else by its number."""
        palette, tree = self._palette, self._state.tree
        is_current = goal.id == tree.current_id
        own = Text(APART if is_current else f"{APART}next ", palette.muted)
        title = Text.assemble(
            (f"{goal.id} ", palette.muted), (one_line(goal.description, 200), palette.strong)
        )
        if tree.parent_of(goal.id) is not None:
            # A root goal's mark stands among the others already.
            mark, style = look.mark(goal)
            title = Text.assemble((f"{mark} ", style), title)
        above = Text()
        for parent in tree.path_to(goal.id)[:-1]:
            above.append(f"{parent.id} {one_line(parent.description, ABOVE_CHARS)}{STEP}", palette.muted)
        fits = own.cell_len + above.cell_len + title.cell_len <= room
        return Text.assemble(own, above, title) if fits else Text.assemble(own, title)


def _roots(goals: tuple[Goal, ...], look: TreeLook) -> Text:
    marks = Text()
    for goal in goals[:ROOTS_SHOWN]:
        marks.append(*look.mark(goal))
    if len(goals) > ROOTS_SHOWN:
        marks.append(f"+{len(goals) - ROOTS_SHOWN}", look.palette.muted)
    return marks


__all__ = ["PlanStrip"]
