"""The plan for the screen: every mission and goal, nothing left out.

Must not shorten; what is too long for a line wraps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rich.text import Text

from tori_tui.domain.goals import Goal, GoalStatus, GoalTree, Mission
from tori_tui.domain.plan_text import goal_heading
from tori_tui.render.safe_text import one_line

INDENT: Final = "    "

STATUS_STYLES: Final[Mapping[GoalStatus, str]] = MappingProxyType(
    {"pending": "dim", "in_progress": "bold", "completed": "green", "abandoned": "yellow"}
)


def plan_text(tree: GoalTree) -> Text:
    """Return all missions with their goals, the current mission last, as one text."""
    lines = [line for mission in tree.missions for line in _mission_lines(tree, mission)]
    return Text("\n").join(lines)


def _mission_lines(tree: GoalTree, mission: Mission) -> Iterator[Text]:
    is_current = mission.id == tree.mission
    yield Text.assemble(("Mission: ", "bold"), (one_line(mission.text), "" if is_current else "dim"))
    if mission.check:
        yield Text(f"{INDENT}[check: {one_line(mission.check)}]", "dim")
    of_mission = frozenset(mission.goal_ids)
    for goal in tree.goals:
        if goal.id in of_mission:
            yield from goal_lines(goal, tree.current_id)
    if is_current and tree.mission_goals:
        n_done, n_all = tree.progress()
        yield Text(f"Progress: {n_done}/{n_all} goals", "dim")


def goal_lines(goal: Goal, current_id: str | None, depth: int = 0) -> Iterator[Text]:
    """Yield the lines of a goal and of everything below it."""
    line = Text(INDENT * depth + goal_heading(goal), STATUS_STYLES[goal.status])
    if goal.pinned:
        line.append("  pinned", "dim")
    if goal.id == current_id:
        line.append("  ← current", "bold")
    if goal.superseded_by:
        line.append(f"  superseded by {goal.superseded_by}", "dim")
    if goal.check:
        line.append(f"   [check: {one_line(goal.check)}]", "dim")
    yield line
    inner = INDENT * (depth + 1)
    if goal.summary:
        label = "abandoned: " if goal.status == "abandoned" else "→ "
        yield Text(f"{inner}{label}{one_line(goal.summary)}", "dim")
    if goal.evidence:
        command = one_line(goal.evidence.command)
        yield Text(f"{inner}check: {command} → exit {goal.evidence.exit_code}", "dim")
    for child in goal.children:
        yield from goal_lines(child, current_id, depth + 1)


__all__ = ["goal_lines", "plan_text"]
