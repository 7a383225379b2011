"""The plan on one line, where the window is too narrow for the tree.

Must not show what does not fit; the current goal always does.
"""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.state import SessionState
from tori_tui.render.safe_text import one_line
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of, title_line
from tori_tui.ui.widgets.goal_tree import MARKS


class PlanStrip(Widget):
    """The current goal and the progress."""

    DEFAULT_CSS = """
    PlanStrip { height: 1; display: none; }
    """

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._state = SessionState()

    def show(self, state: SessionState) -> None:
        """Show the plan of a state."""
        if state.tree is not self._state.tree:
            self.refresh()
        self._state = state

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        width = self.size.width
        return strip_of(self._line(width), width, self._palette.base)

    def _line(self, width: int) -> Text:
        palette, tree = self._palette, self._state.tree
        goal = tree.current or tree.next_pending()
        done, total = tree.progress()
        if not total:
            return Text(" no plan", palette.muted) if tree.mission else Text()
        dots = Text()
        for root in tree.mission_goals[:12]:
            style = {
                "completed": palette.success,
                "in_progress": palette.accent,
                "pending": palette.muted,
                "abandoned": palette.muted,
            }[root.status]
            dots.append(MARKS[root.status], style)
        left = Text.assemble(" ", dots, " ")
        if goal is not None:
            left.append(f"{goal.id} ", palette.muted)
            left.append(one_line(goal.description, 200), palette.strong)
        return title_line(left, Text(f"{done}/{total} ", palette.muted), width)


__all__ = ["PlanStrip"]
