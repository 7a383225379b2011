"""The goal tree as an immutable value, and how to find one's way in it.

Must not decide what an edit means; `plan_edits` applies edits, `goal_call` reads the model's wishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from tori_tui.domain.ids import GoalId, MissionId
from tori_tui.domain.value import Value

AGENT_MARK = "@"
"""Before the name of an agent at the start of a goal's text: that one works on it."""

GoalStatus = Literal["pending", "in_progress", "completed", "abandoned"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence(Value):
    """What a goal's check showed when the goal was done."""

    command: str
    exit_code: int
    tail: str = ""
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Budget(Value):
    """What a goal may spend, its children included; None is no limit."""

    turns: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Goal(Value):
    """A node of the goal tree."""

    id: GoalId
    description: str
    status: GoalStatus = "pending"
    summary: str | None = None
    """Of a completed goal its result, of an abandoned one the reason."""
    check: str | None = None
    """A shell command that must exit 0 before the goal can be done."""
    check_by: Literal["model", "user"] = "model"
    evidence: Evidence | None = None
    superseded_by: GoalId | None = None
    pinned: bool = False
    budget: Budget | None = None
    children: tuple[Goal, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether work on it may go on."""
        return self.status in ("pending", "in_progress")

    @property
    def agent(self) -> str:
        """The agent that its text asks for: `review` of `@review the diff`; empty for most goals."""
        word = self.description.partition(" ")[0]
        return word[1:].rstrip(":,") if word.startswith(AGENT_MARK) else ""

    def walk(self) -> Iterator[Goal]:
        """Yield the goal and everything below it, parents first, in plan order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mission(Value):
    """What the user asked for: the root of a plan."""

    id: MissionId
    text: str
    check: str | None = None
    goal_ids: tuple[GoalId, ...] = ()
    """Its root goals, in plan order."""


def _no_counters() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalTree(Value):
    """Every mission of a session with its goals. Ids never change and never come back."""

    missions: tuple[Mission, ...] = ()
    mission: MissionId | None = None
    current_id: GoalId | None = None
    """The focused goal."""
    counters: Mapping[str, int] = field(default_factory=_no_counters)
    """Last number given out below each parent; the key of the root is the empty string."""
    goals: tuple[Goal, ...] = ()

    def walk(self) -> Iterator[Goal]:
        """Yield every goal, parents first, in plan order."""
        for goal in self.goals:
            yield from goal.walk()

    def find(self, goal_id: GoalId) -> Goal | None:
        """Return the goal with that id, or None."""
        path = self.path_to(goal_id)
        return path[-1] if path else None

    def path_to(self, goal_id: GoalId) -> tuple[Goal, ...]:
        """Return the goals from the root down to that id, both included; empty if there is none."""
        return _path(self.goals, goal_id)

    def parent_of(self, goal_id: GoalId) -> Goal | None:
        """Return the goal above, or None for a root goal or an unknown id."""
        path = self.path_to(goal_id)
        return path[-2] if len(path) > 1 else None

    def siblings_of(self, goal_id: GoalId) -> tuple[Goal, ...]:
        """Return the children list that holds that id, itself included."""
        parent = self.parent_of(goal_id)
        return parent.children if parent else self.goals

    @property
    def current(self) -> Goal | None:
        """The focused goal, or None."""
        return self.find(self.current_id) if self.current_id else None

    @property
    def asking_goals(self) -> tuple[Goal, ...]:
        """The goals from the focus up whose text asks for an agent; the nearest one first."""
        path = self.path_to(self.current_id) if self.current_id else ()
        return tuple(goal for goal in reversed(path) if goal.agent)

    @property
    def current_mission(self) -> Mission | None:
        """The mission that is being worked on, or None in a session without one."""
        return next((m for m in self.missions if m.id == self.mission), None)

    @property
    def mission_goals(self) -> tuple[Goal, ...]:
        """The root goals of the current mission."""
        mission = self.current_mission
        if mission is None:
            return ()
        of_mission = frozenset(mission.goal_ids)
        return tuple(goal for goal in self.goals if goal.id in of_mission)

    @property
    def open_goals(self) -> tuple[Goal, ...]:
        """Every open goal of the current mission, parents first, in plan order."""
        return tuple(g for root in self.mission_goals for g in root.walk() if g.is_open)

    def next_pending(self) -> Goal | None:
        """Return the first pending goal of the current mission whose children do not come first."""
        return next((g for g in self.open_goals if g.status == "pending"), None)

    def progress(self) -> tuple[int, int]:
        """Return (completed, all) over the current mission's leaves that are not abandoned."""
        leaves = [g for root in self.mission_goals for g in root.walk() if _counts(g)]
        return sum(g.status == "completed" for g in leaves), len(leaves)

    def replace_goal(self, goal: Goal) -> GoalTree:
        """Return a tree in which the goal with the same id is this one."""
        return replace(self, goals=_replaced(self.goals, goal))


def _counts(goal: Goal) -> bool:
    has_live_children = any(child.status != "abandoned" for child in goal.children)
    return goal.status != "abandoned" and not has_live_children


def _path(goals: tuple[Goal, ...], goal_id: GoalId) -> tuple[Goal, ...]:
    for goal in goals:
        if goal.id == goal_id:
            return (goal,)
        below = _path(goal.children, goal_id)
        if below:
            return (goal, *below)
    return ()


def _replaced(goals: tuple[Goal, ...], new: Goal) -> tuple[Goal, ...]:
    changed = []
    for goal in goals:
        if goal.id == new.id:
            changed.append(new)
        elif goal.children:
            changed.append(replace(goal, children=_replaced(goal.children, new)))
        else:
            changed.append(goal)
    return tuple(changed)


__all__ = ["AGENT_MARK", "Budget", "Evidence", "Goal", "GoalStatus", "GoalTree", "Mission"]
