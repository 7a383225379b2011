"""The plan as the model sees it: a fisheye of the goal tree around the focus, within a token limit.

Must not store anything: the same tree always gives the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_text import STATUS_MARKS, goal_heading, goal_title, one_line

PLAN_LIMIT_TOKENS: Final = 400
MISSION_LIMIT_CHARS: Final = 200
DESCRIPTION_LIMIT_CHARS: Final = 100
SUMMARY_LIMIT_CHARS: Final = 200
REASON_LIMIT_CHARS: Final = 100
CHECK_LIMIT_CHARS: Final = 100

RECENT_ROOTS: Final = 4
"""Ended root goals before the focus that are still shown one by one; older ones are a count."""

COUNT_TOKENS: Final = 14
"""What a line that counts hidden goals takes at most."""

NEAREST_STEPS: Final = 2
"""Neighbours of the current path this close are shown with their results before others get a line."""

INDENT: Final = "    "
MIXED_MARK: Final = "[·]"


def plan_block(tree: GoalTree, limit_tokens: int = PLAN_LIMIT_TOKENS) -> str:
    """Return the block `## Current Plan`.

    The current path is always shown whole, then what is near the focus: its siblings and sub-goals with
    their results, other goals as lines. What does not fit is counted, farthest from the focus first.
    """
    head = _head(tree)
    room = limit_tokens - estimate_tokens(head)
    layout = _fitted(_Surroundings(tree), room)
    while True:
        lines = list(_lines(tree.mission_goals, layout, 0))
        text = "\n".join([head, *_earlier(tree), *lines])
        if layout.n_optional == 0 or estimate_tokens(text) <= limit_tokens:
            return text
        layout = layout.without_farthest()


def _head(tree: GoalTree) -> str:
    mission = tree.current_mission
    told = one_line(mission.text, MISSION_LIMIT_CHARS) if mission else "none yet"
    if not tree.mission_goals:
        return f"## Current Plan\n\n**Mission**: {told}\n\n**Progress**: no goals; the mission is one piece."
    current = tree.current
    focus = goal_title(current, DESCRIPTION_LIMIT_CHARS) if current else "no goal is focused"
    return f"## Current Plan\n\n**Mission**: {told}\n**Current**: {focus}\n\n**Progress**:"


def _earlier(tree: GoalTree) -> list[str]:
    """Earlier missions as one line: their goals are over and done with for the present one."""
    earlier = [m for m in tree.missions if m.id != tree.mission]
    if not earlier:
        return []
    n_goals = sum(len(mission.goal_ids) for mission in earlier)
    missions = "1 earlier mission" if len(earlier) == 1 else f"{len(earlier)} earlier missions"
    told = f" with {n_goals} root goals; recall by id" if n_goals else ""
    return [f"({missions}{told})"]


@dataclass(frozen=True, slots=True)
class _Item:
    """A goal beside the current path, and how far from the focus it stands."""

    goal: Goal
    distance: tuple[int, int, int]
    """Levels up to the path, steps among siblings, levels below the sibling."""

    @property
    def is_near(self) -> bool:
        """Whether it is a sibling of the current path, or a sub-goal of the current goal."""
        return self.distance[2] == 0

    @property
    def is_nearest(self) -> bool:
        """Whether its result is worth more than another goal's line."""
        return self.is_near and self.distance[1] <= NEAREST_STEPS


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which goals are shown, and which of them with their result."""

    path: frozenset[GoalId]
    current_id: GoalId | None
    shown: tuple[GoalId, ...]
    """Beside the path, nearest first."""
    told: frozenset[GoalId]
    visible: frozenset[GoalId]

    @property
    def n_optional(self) -> int:
        """How much can still be left out."""
        return len(self.shown)

    def without_farthest(self) -> _Layout:
        """Return the layout with its farthest tenth left out."""
        n_kept = len(self.shown) - max(1, len(self.shown) // 10)
        return _layout(self.path, self.current_id, self.shown[:n_kept], self.told)


def _layout(
    path: frozenset[GoalId], current_id: GoalId | None, shown: Sequence[GoalId], told: frozenset[GoalId]
) -> _Layout:
    return _Layout(path, current_id, tuple(shown), told, path | frozenset(shown))


class _Surroundings:
    """The goals around the focus, nearest first."""

    def __init__(self, tree: GoalTree) -> None:
        roots = tree.mission_goals
        path = tree.path_to(tree.current_id) if tree.current_id else ()
        self.path: tuple[Goal, ...] = path if path and path[0] in roots else ()
        self.current_id = tree.current_id if self.path else None
        self.items = sorted(self._items(roots), key=lambda item: item.distance)

    def _items(self, roots: Sequence[Goal]) -> Iterator[_Item]:
        levels = [roots, *(goal.children for goal in self.path)]
        for depth, siblings in enumerate(levels):
            on_path = self.path[depth] if depth < len(self.path) else None
            focus_at = _focus_index(siblings, on_path)
            long_ended = _long_ended(siblings, focus_at) if depth == 0 else frozenset()
            for at, goal in enumerate(siblings):
                if goal is not on_path and at not in long_ended:
                    yield from _below(goal, len(levels) - 1 - depth, abs(at - focus_at), 0)


def _focus_index(siblings: Sequence[Goal], on_path: Goal | None) -> int:
    if on_path is not None:
        return siblings.index(on_path)
    return next((at for at, goal in enumerate(siblings) if goal.is_open), len(siblings) - 1)


def _long_ended(roots: Sequence[Goal], focus_at: int) -> frozenset[int]:
    """Return where the ended root goals stand that are over for so long that a count is enough."""
    ended = [at for at in range(focus_at) if not roots[at].is_open]
    return frozenset(ended[:-RECENT_ROOTS])


def _below(goal: Goal, up: int, aside: int, down: int) -> Iterator[_Item]:
    yield _Item(goal, (up, aside, down))
    for child in goal.children:
        yield from _below(child, up, aside, down + 1)


def _fitted(around: _Surroundings, room: int) -> _Layout:
    """Choose what is shown, nearest first; the results of all but the nearest come after all lines."""
    path = frozenset(goal.id for goal in around.path)
    room -= sum(_cost(goal, is_told=True) for goal in around.path)
    costs = _costs_within(around.items, room)
    if len(costs) < len(around.items):
        costs = _costs_within(around.items, room - 2 * COUNT_TOKENS * (len(around.path) + 1))
        room = 0
    room -= sum(costs)
    shown = around.items[: len(costs)]
    told = {item.goal.id for item in shown if item.is_nearest}
    for item in shown:
        if item.is_near and not item.is_nearest:
            room -= _cost(item.goal, is_told=True) - _cost(item.goal, is_told=False)
            if room < 0:
                break
            told.add(item.goal.id)
    return _layout(path, around.current_id, [item.goal.id for item in shown], path | told)


def _costs_within(items: Sequence[_Item], room: int) -> list[int]:
    """Return what each item takes, up to the first that does not fit."""
    costs: list[int] = []
    for item in items:
        cost = _cost(item.goal, is_told=item.is_nearest)
        if cost > room:
            break
        room -= cost
        costs.append(cost)
    return costs


def _cost(goal: Goal, *, is_told: bool) -> int:
    lines = _goal_lines(goal, 1, is_current=False, is_told=is_told)
    return sum(estimate_tokens(line) + 1 for line in lines)


def _goal_lines(goal: Goal, depth: int, *, is_current: bool, is_told: bool) -> list[str]:
    line = INDENT * depth + goal_heading(goal, DESCRIPTION_LIMIT_CHARS)
    if goal.status == "abandoned":
        reason = one_line(goal.summary or "", REASON_LIMIT_CHARS) if is_told else ""
        line += f" (abandoned: {reason})" if reason else " (abandoned)"
    elif goal.superseded_by:
        line += f" (superseded by {goal.superseded_by})"
    if is_current:
        line += "  ← current"
    if goal.check and goal.is_open:
        line += f"   [check: {one_line(goal.check, CHECK_LIMIT_CHARS)}]"
    if not (is_told and goal.status == "completed" and goal.summary):
        return [line]
    return [line, f"{INDENT * (depth + 1)}→ {one_line(goal.summary, SUMMARY_LIMIT_CHARS)}"]


def _lines(goals: Sequence[Goal], layout: _Layout, depth: int) -> Iterator[str]:
    hidden: list[Goal] = []
    for goal in goals:
        if goal.id not in layout.visible:
            hidden.append(goal)
            continue
        if hidden:
            yield INDENT * depth + _count_line(hidden)
            hidden = []
        is_current = goal.id == layout.current_id
        line, *more = _goal_lines(goal, depth, is_current=is_current, is_told=goal.id in layout.told)
        is_closed = goal.id not in layout.path and not any(c.id in layout.visible for c in goal.children)
        yield f"{line} (+{len(goal.children)} below)" if is_closed and goal.children else line
        yield from more
        if not is_closed:
            yield from _lines(goal.children, layout, depth + 1)
    if hidden:
        yield INDENT * depth + _count_line(hidden)


def _count_line(goals: Sequence[Goal]) -> str:
    """Return one line for neighbours that are not shown: `[✓] 1–14 done; recall by id`."""
    ids = goals[0].id if len(goals) == 1 else f"{goals[0].id}–{goals[-1].id}"
    counts = {
        "done": sum(goal.status == "completed" for goal in goals),
        "abandoned": sum(goal.status == "abandoned" for goal in goals),
        "in progress": sum(goal.status == "in_progress" for goal in goals),
        "pending": sum(goal.status == "pending" for goal in goals),
    }
    present = {word: n for word, n in counts.items() if n}
    hint = "; recall by id" if any(not goal.is_open for goal in goals) else ""
    if len(present) == 1:
        return f"{STATUS_MARKS[goals[0].status]} {ids} {next(iter(present))}{hint}"
    return f"{MIXED_MARK} {ids}: {', '.join(f'{n} {word}' for word, n in present.items())}{hint}"


__all__ = ["PLAN_LIMIT_TOKENS", "plan_block"]
