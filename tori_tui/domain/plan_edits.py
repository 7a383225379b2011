"""Edits of the goal tree as outcomes, and the pure function that applies them.

An edit says what has been decided (ids given, evidence found), never what was asked for, so that
a later version of the rules replays an old trace to the same tree. Must not refuse anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal, assert_never

from tori_tui.domain.goals import Budget, Evidence, Goal, GoalTree, Mission
from tori_tui.domain.ids import GoalId, MissionId
from tori_tui.domain.value import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MissionOpened(Value):
    """A prompt in an idle session became the mission."""

    op: ClassVar[str] = "mission_opened"
    id: MissionId
    text: str
    check: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MissionCheckSet(Value):
    """A mission got, changed or lost its own check."""

    op: ClassVar[str] = "mission_check_set"
    id: MissionId
    check: str | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalAdded(Value):
    """A goal entered the plan, pending."""

    op: ClassVar[str] = "goal_added"
    id: GoalId
    parent_id: GoalId | None
    description: str
    check: str | None = None
    check_by: Literal["model", "user"] = "model"
    after_id: GoalId | None = None
    """The sibling it follows; None is at the end."""
    replaces: GoalId | None = None
    """The abandoned or reopened goal whose work it takes over."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalFocused(Value):
    """The focus moved; the goal and everything above it are in progress."""

    op: ClassVar[str] = "goal_focused"
    id: GoalId | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalCompleted(Value):
    """A goal was done, its check green where it has one."""

    op: ClassVar[str] = "goal_completed"
    id: GoalId
    summary: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalAbandoned(Value):
    """A goal was given up."""

    op: ClassVar[str] = "goal_abandoned"
    id: GoalId
    reason: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalRenamed(Value):
    """A goal's description changed."""

    op: ClassVar[str] = "goal_renamed"
    id: GoalId
    description: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalMoved(Value):
    """A goal changed its place among its siblings; its parent and id stay."""

    op: ClassVar[str] = "goal_moved"
    id: GoalId
    after_id: GoalId | None
    """The sibling it follows now; None is first."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalCheckSet(Value):
    """A goal got, changed or lost its check."""

    op: ClassVar[str] = "goal_check_set"
    id: GoalId
    check: str | None
    check_by: Literal["model", "user"] = "user"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalPinned(Value):
    """A goal was kept from folding, or released."""

    op: ClassVar[str] = "goal_pinned"
    id: GoalId
    pinned: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalBudgetSet(Value):
    """A goal's spending limit changed."""

    op: ClassVar[str] = "goal_budget_set"
    id: GoalId
    budget: Budget | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EvidenceRecorded(Value):
    """A check ran again and its outcome replaced the old evidence."""

    op: ClassVar[str] = "evidence_recorded"
    id: GoalId
    evidence: Evidence


PlanEdit = (
    MissionOpened
    | MissionCheckSet
    | GoalAdded
    | GoalFocused
    | GoalCompleted
    | GoalAbandoned
    | GoalRenamed
    | GoalMoved
    | GoalCheckSet
    | GoalPinned
    | GoalBudgetSet
    | EvidenceRecorded
)

PLAN_EDITS: tuple[type[PlanEdit], ...] = (
    MissionOpened,
    MissionCheckSet,
    GoalAdded,
    GoalFocused,
    GoalCompleted,
    GoalAbandoned,
    GoalRenamed,
    GoalMoved,
    GoalCheckSet,
    GoalPinned,
    GoalBudgetSet,
    EvidenceRecorded,
)


def fitting_edits(tree: GoalTree, edits: Iterable[PlanEdit]) -> tuple[PlanEdit, ...]:
    """Return the edits that still mean something in this tree: those of goals that are there."""
    fitting: list[PlanEdit] = []
    for edit in edits:
        if _fits(tree, edit):
            fitting.append(edit)
            tree = apply_edit(tree, edit)
    return tuple(fitting)


def _fits(tree: GoalTree, edit: PlanEdit) -> bool:
    match edit:
        case MissionOpened() | MissionCheckSet():
            return True
        case GoalAdded():
            has_place = edit.parent_id is None or tree.find(edit.parent_id) is not None
            return has_place and tree.find(edit.id) is None
        case GoalFocused():
            return edit.id is None or tree.find(edit.id) is not None
        case _:
            return tree.find(edit.id) is not None


def apply_edits(tree: GoalTree, edits: Iterable[PlanEdit]) -> GoalTree:
    """Return the tree after the edits, in order; an edit of an unknown goal changes nothing."""
    for edit in edits:
        tree = apply_edit(tree, edit)
    return tree


def apply_edit(tree: GoalTree, edit: PlanEdit) -> GoalTree:
    """Return the tree after one edit; total, so that an old or foreign trace never stops a replay."""
    match edit:
        case MissionOpened():
            mission = Mission(edit.id, edit.text, edit.check)
            return replace(tree, missions=(*tree.missions, mission), mission=edit.id, current_id=None)
        case MissionCheckSet():
            missions = (replace(m, check=edit.check) if m.id == edit.id else m for m in tree.missions)
            return replace(tree, missions=tuple(missions))
        case GoalAdded():
            return _added(tree, edit)
        case GoalFocused():
            return _focused(tree, edit.id)
        case GoalMoved():
            return _moved(tree, edit)
        case _:
            goal = tree.find(edit.id)
            return tree if goal is None else tree.replace_goal(_changed(goal, edit))


_GoalChange = (
    GoalCompleted | GoalAbandoned | GoalRenamed | GoalCheckSet | GoalPinned | GoalBudgetSet | EvidenceRecorded
)


def _changed(goal: Goal, edit: _GoalChange) -> Goal:
    match edit:
        case GoalCompleted():
            return replace(goal, status="completed", summary=edit.summary, evidence=edit.evidence)
        case GoalAbandoned():
            return replace(goal, status="abandoned", summary=edit.reason)
        case GoalRenamed():
            return replace(goal, description=edit.description)
        case GoalCheckSet():
            return replace(goal, check=edit.check, check_by=edit.check_by)
        case GoalPinned():
            return replace(goal, pinned=edit.pinned)
        case GoalBudgetSet():
            return replace(goal, budget=edit.budget)
        case EvidenceRecorded():
            return replace(goal, evidence=edit.evidence)
        case _:
            assert_never(edit)


def _added(tree: GoalTree, edit: GoalAdded) -> GoalTree:
    if tree.find(edit.id) is not None or (edit.parent_id and tree.find(edit.parent_id) is None):
        return tree
    goal = Goal(edit.id, edit.description, check=edit.check, check_by=edit.check_by)
    tree = replace(tree, counters=_counted(tree, edit))
    if edit.replaces and (old := tree.find(edit.replaces)) and old.superseded_by is None:
        tree = tree.replace_goal(replace(old, superseded_by=edit.id))
    if edit.parent_id is None:
        missions = tuple(
            replace(m, goal_ids=_inserted(m.goal_ids, edit.id, edit.after_id)) if m.id == tree.mission else m
            for m in tree.missions
        )
        return replace(tree, goals=_placed(tree.goals, goal, edit.after_id), missions=missions)
    parent = tree.find(edit.parent_id)
    if parent is None:
        return tree
    return tree.replace_goal(replace(parent, children=_placed(parent.children, goal, edit.after_id)))


def _counted(tree: GoalTree, edit: GoalAdded) -> MappingProxyType[str, int]:
    """Counters only grow: the last number of the new id, primes left out, is used up for ever."""
    last = edit.id.rpartition(".")[2].rstrip("'")
    key = edit.parent_id or ""
    number = int(last) if last.isdecimal() else 0
    counters = {**tree.counters, key: max(number, tree.counters.get(key, 0))}
    base = edit.id.rstrip("'")
    if base != edit.id:
        primes = primes_key(base)
        counters[primes] = max(len(edit.id) - len(base), counters.get(primes, 0))
    return MappingProxyType(counters)


def primes_key(base: str) -> str:
    """Return the counter of the primes given out for an id; no goal has an id that begins so."""
    return f"'{base}"


def _inserted(ids: tuple[GoalId, ...], new: GoalId, after: GoalId | None) -> tuple[GoalId, ...]:
    at = ids.index(after) + 1 if after in ids else len(ids)
    return (*ids[:at], new, *ids[at:])


def _placed(goals: tuple[Goal, ...], new: Goal, after: GoalId | None) -> tuple[Goal, ...]:
    at = next((i + 1 for i, goal in enumerate(goals) if goal.id == after), len(goals))
    return (*goals[:at], new, *goals[at:])


def _focused(tree: GoalTree, goal_id: GoalId | None) -> GoalTree:
    if goal_id is None:
        return replace(tree, current_id=None)
    path = tree.path_to(goal_id)
    if not path:
        return tree
    for goal in path:
        if goal.status == "pending":
            # Looked up again: the step before may have changed what lies below it.
            now = tree.find(goal.id) or goal
            tree = tree.replace_goal(replace(now, status="in_progress"))
    return replace(tree, current_id=goal_id)


def _moved(tree: GoalTree, edit: GoalMoved) -> GoalTree:
    path = tree.path_to(edit.id)
    if not path or edit.after_id == edit.id:
        return tree
    goal = path[-1]
    siblings = tuple(g for g in tree.siblings_of(edit.id) if g.id != edit.id)
    at = next((i + 1 for i, g in enumerate(siblings) if g.id == edit.after_id), 0)
    ordered = (*siblings[:at], goal, *siblings[at:])
    if len(path) > 1:
        return tree.replace_goal(replace(path[-2], children=ordered))
    order = [g.id for g in ordered]
    missions = tuple(replace(m, goal_ids=tuple(sorted(m.goal_ids, key=order.index))) for m in tree.missions)
    return replace(tree, goals=ordered, missions=missions)


__all__ = [
    "PLAN_EDITS",
    "EvidenceRecorded",
    "GoalAbandoned",
    "GoalAdded",
    "GoalBudgetSet",
    "GoalCheckSet",
    "GoalCompleted",
    "GoalFocused",
    "GoalMoved",
    "GoalPinned",
    "GoalRenamed",
    "MissionCheckSet",
    "MissionOpened",
    "PlanEdit",
    "apply_edit",
    "apply_edits",
    "fitting_edits",
    "primes_key",
]
