"""The plan as a page that the user edits in `$EDITOR`, and what his changes come to.

Pure. A page says what shall be; lines of goals that have ended are shown and stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tori_tui.domain.goal_call import GoalRefused, abandon_goal, parse_goal_id
from tori_tui.domain.goal_list import read_goals
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalAdded, GoalCheckSet, GoalMoved, GoalRenamed, PlanEdit, apply_edits
from tori_tui.domain.plan_text import STATUS_MARKS, one_line

HEAD: Final = """\
# The plan. One goal a line; four spaces deeper is below the goal above.
# Change a text, move a line among its neighbours, delete a line to drop its goal, or write a new line
# without a number. [check: COMMAND] at the end is a check. Goals that have ended stay as they are.
"""

INDENT: Final = 4

_LINE: Final = re.compile(
    r"""
    ^(?P<indent>[ \t]*) (?:[-*]\s+)? (?:\[(?P<mark>.)\]\s*)?
    (?:(?P<id>\d+(?:\.\d+)*[.\d']*)\.?\s+)? (?P<text>\S.*)$
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Row:
    depth: int
    id: GoalId | None
    description: str
    check: str | None


def plan_page(tree: GoalTree) -> str:
    """Return the current mission's goals as the page."""
    lines = [HEAD]
    for root in tree.mission_goals:
        lines += _lines(root, 0)
    return "\n".join(lines) + "\n"


def read_plan_page(tree: GoalTree, page: str) -> tuple[PlanEdit, ...]:
    """Return the edits that make the plan what the page says.

    Raises:
        GoalRefused: A line names a goal that is not there, or stands twice; nothing is changed then.
    """
    rows = [row for line in page.splitlines() if (row := _row(line)) is not None]
    known = {goal.id: goal for root in tree.mission_goals for goal in root.walk()}
    _check_ids(rows, known)
    edits: list[PlanEdit] = []
    for row in rows:
        if row.id is not None:
            edits += _changes(known[row.id], row)
    named = {row.id for row in rows}
    for goal in known.values():
        if goal.is_open and goal.id not in named and apply_edits(tree, edits).find(goal.id):
            now = apply_edits(tree, edits)
            if (still := now.find(goal.id)) is not None and still.is_open:
                edits += abandon_goal(now, goal.id, "dropped by the user")
    return (*edits, *_places(apply_edits(tree, edits), rows))


def _lines(goal: Goal, depth: int) -> list[str]:
    check = f"  [check: {goal.check}]" if goal.check else ""
    lines = [
        f"{' ' * INDENT * depth}{STATUS_MARKS[goal.status]} {goal.id} {one_line(goal.description)}{check}"
    ]
    for child in goal.children:
        lines += _lines(child, depth + 1)
    return lines


def _row(line: str) -> _Row | None:
    found = _LINE.match(line)
    if found is None or line.lstrip().startswith("#"):
        return None
    goals = read_goals([found["text"]])
    if not goals:
        return None
    goal_id = parse_goal_id(found["id"].rstrip(".")) if found["id"] else None
    depth = len(found["indent"].expandtabs(INDENT)) // INDENT
    return _Row(depth, goal_id, goals[0].description, goals[0].check)


def _check_ids(rows: list[_Row], known: dict[GoalId, Goal]) -> None:
    seen: set[GoalId] = set()
    for row in rows:
        if row.id is None:
            continue
        if row.id not in known:
            raise GoalRefused(f"There is no goal {row.id}.", "A new goal has no number: tori gives it one.")
        if row.id in seen:
            raise GoalRefused(f"Goal {row.id} stands twice on the page.", "Leave it once.")
        seen.add(row.id)


def _changes(goal: Goal, row: _Row) -> list[PlanEdit]:
    edits: list[PlanEdit] = []
    if goal.is_open and row.description != one_line(goal.description):
        edits.append(GoalRenamed(goal.id, row.description))
    if goal.is_open and row.check != goal.check:
        edits.append(GoalCheckSet(goal.id, row.check, "user"))
    return edits


def _places(tree: GoalTree, rows: list[_Row]) -> list[PlanEdit]:
    """Add new lines where they stand, and put moved ones among their siblings as the page has them."""
    edits: list[PlanEdit] = []
    path: list[GoalId | None] = []
    last: dict[GoalId | None, GoalId | None] = {}
    for row in rows:
        now = apply_edits(tree, edits)
        del path[row.depth :]
        parent = path[-1] if path else None
        goal_id = row.id
        if goal_id is None:
            goal_id = _next_id(now, parent)
            edits.append(GoalAdded(goal_id, parent, row.description, row.check, "user", last.get(parent)))
        else:
            above = now.parent_of(goal_id)
            parent = above.id if above else None
            before = _sibling_before(now, goal_id)
            if parent in last and last[parent] != before and _is_sibling(now, last[parent], goal_id):
                edits.append(GoalMoved(goal_id, last[parent]))
        last[parent] = goal_id
        path.append(goal_id)
    return edits


def _next_id(tree: GoalTree, parent: GoalId | None) -> GoalId:
    number = tree.counters.get(parent or "", 0) + 1
    return GoalId(f"{parent}.{number}" if parent else str(number))


def _sibling_before(tree: GoalTree, goal_id: GoalId) -> GoalId | None:
    siblings = [goal.id for goal in tree.siblings_of(goal_id)]
    at = siblings.index(goal_id)
    return siblings[at - 1] if at else None


def _is_sibling(tree: GoalTree, one: GoalId | None, other: GoalId) -> bool:
    return one in {goal.id for goal in tree.siblings_of(other)}


__all__ = ["plan_page", "read_plan_page"]
