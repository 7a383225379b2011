"""A line of the goal tree as it is drawn: mark, id, title, and at the right what the goal took.

Must not know a widget. Each state has a mark of its own: a colour never says something alone.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from rich.style import Style
from rich.text import Text

from tori_tui.domain.goal_stats import GoalStats
from tori_tui.domain.goals import Goal, GoalStatus
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.safe_text import one_line
from tori_tui.ui.goal_rows import GoalRow
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import title_line

MARKS: Final[dict[GoalStatus, str]] = {
    "completed": "✓",
    "abandoned": "✗",
    "in_progress": "▶",
    "pending": "○",
}

ASKS_MARK, STOPPED_MARK = "?", "■"
"""Of the focused goal: it waits for the user; the run stopped before it was done."""

UNCHECKED_MARK, GREEN_MARK, RED_MARK = "◇", "◆", "◇!"

INDENT_CELLS: Final = 2

MAX_INDENT_CELLS: Final = 12
"""Deeper goals stand below each other, so that a description always has room."""

ROOMY_CELLS: Final = 66
"""From this width on a line also says tokens, money and files, in columns."""

LEAST_SHOWN_S: Final = 0.1

FILES_CELLS, TOKENS_CELLS, COST_CELLS, TIME_CELLS = 9, 6, 9, 9

_STOPPED: Final = ("failed", "interrupted", "limit", "incomplete")


@dataclass(frozen=True, slots=True)
class TreeLook:
    """What the lines of a tree have in common."""

    palette: Palette
    state: SessionState
    collapsed: Set[GoalId] = frozenset()
    is_filtered: bool = False
    running_s: float | None = None
    """How long the focused goal has been worked on since it was last measured; None at rest."""
    focused_path: frozenset[GoalId] = frozenset()
    """The focused goal and those above it, which take the time that runs."""

    def mark(self, goal: Goal) -> tuple[str, Style]:
        """Return the sign of a goal's state."""
        palette, status = self.palette, self.state.status
        if goal.id == self.state.tree.current_id and goal.is_open:
            if status == "waiting":
                return ASKS_MARK, palette.warning
            if status in _STOPPED:
                return STOPPED_MARK, palette.warning
        styles = {
            "completed": palette.success,
            "abandoned": palette.muted,
            "in_progress": palette.accent,
            "pending": palette.muted,
        }
        return MARKS[goal.status], styles[goal.status]

    def line(self, row: GoalRow, width: int) -> Text:
        """Return a row's line, at most so wide."""
        palette, goal = self.palette, row.goal
        indent = " " * min(row.depth * INDENT_CELLS, MAX_INDENT_CELLS)
        if goal is None:
            return title_line(Text(indent + row.text, palette.muted), Text(), width)
        is_current = goal.id == self.state.tree.current_id
        body = palette.strong if is_current else palette.base if goal.is_open else palette.muted
        if self.is_filtered:
            body = palette.strong if row.is_hit else palette.muted
        left = Text.assemble(
            indent,
            _signed(self.mark(goal)),
            (f"{goal.id} ", palette.muted),
            (one_line(goal.description, 300), body),
        )
        if goal.id in self.collapsed and goal.children and not self.is_filtered:
            left.append(f" +{sum(1 for _ in goal.walk()) - 1}", palette.muted)
        return title_line(left, self.facts(goal, width), width)

    def facts(self, goal: Goal, width: int) -> Text:
        """Return what a goal took and what its check came to, as much as so many cells have room for."""
        palette = self.palette
        stats = self.state.stats_of(goal.id)
        facts = Text(f" → {goal.superseded_by}" if goal.superseded_by else "", palette.muted)
        facts.append_text(self._check(goal))
        is_roomy = width >= ROOMY_CELLS
        if is_roomy:
            facts.append(_columns(stats), palette.muted)
        facts.append_text(self._time(goal, stats, TIME_CELLS if is_roomy else 0))
        return facts if is_roomy else facts[len(facts.plain) - len(facts.plain.lstrip()) :]

    def _check(self, goal: Goal) -> Text:
        palette, evidence = self.palette, goal.evidence
        if goal.check is None and evidence is None:
            return Text()
        if evidence is None:
            return Text(f" {UNCHECKED_MARK}", palette.muted)
        is_green = evidence.exit_code == 0
        return Text(
            f" {GREEN_MARK if is_green else RED_MARK}", palette.success if is_green else palette.error
        )

    def _time(self, goal: Goal, stats: GoalStats, cells: int) -> Text:
        spent_s = stats.duration_s
        if self.running_s is not None and goal.id in self.focused_path:
            spent_s += self.running_s
            if goal.id == self.state.tree.current_id:
                return Text(f" ⟳ {shown_duration(spent_s)}".rjust(cells), self.palette.accent)
        told = f" {shown_duration(spent_s)}" if spent_s >= LEAST_SHOWN_S else ""
        return Text(told.rjust(cells), self.palette.muted)


def _signed(mark: tuple[str, Style]) -> tuple[str, Style]:
    return f"{mark[0]} ", mark[1]


def _columns(stats: GoalStats) -> str:
    n_files = len(stats.changed_paths)
    files = counted(n_files, "file") if n_files else ""
    tokens = shown_tokens(stats.usage.total_tokens) if stats.usage.total_tokens else ""
    cost = shown_cost(stats.cost_usd, is_partial=stats.has_unpriced_turns)
    return f"{files:>{FILES_CELLS}}{tokens:>{TOKENS_CELLS}}{cost:>{COST_CELLS}}"


__all__ = ["ASKS_MARK", "GREEN_MARK", "MARKS", "RED_MARK", "STOPPED_MARK", "UNCHECKED_MARK", "TreeLook"]
