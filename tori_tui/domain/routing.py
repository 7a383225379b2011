"""Where a comment takes effect: the verdict held against the newest plan, and the edits that follow.

Pure. Must not call a model; a verdict comes from the classifier, from the user's aim, or from nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from tori_tui.domain.goal_call import GoalRefused, abandon_goal, reopen
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused, GoalRenamed, PlanEdit, apply_edits
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.value import Value

Impact = Literal["future", "current", "past", "requirement_change"]

DecidedBy = Literal["user", "classifier", "fallback"]

NOTE_LIMIT_CHARS = 200
"""Of a comment inside a goal's description; the comment itself stands whole in the context."""

LEAST_CONFIDENCE = 0.5
"""Below it a verdict that would cancel work is not acted on: a coin toss must not cost an hour."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict(Value):
    """What somebody thinks a comment is about; may be stale when it arrives."""

    impact: Impact
    goal_ids: tuple[GoalId, ...] = ()
    rejects: bool = False
    """It turns down what the goals do or plan to do."""
    confidence: float = 1.0
    decided_by: DecidedBy = "classifier"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Routing(Value):
    """Where a comment takes effect, decided on the newest state."""

    impact: Impact
    goal_ids: tuple[GoalId, ...]
    cancels: bool
    """The turn that runs is cancelled and its goal restarted or replanned."""
    edits: tuple[PlanEdit, ...]
    decided_by: DecidedBy
    note: str = ""
    """Why it is not what the verdict said, or what was done."""


INJECTION = Verdict("current", decided_by="fallback")
"""Without a verdict a comment simply joins the current context."""


def route(tree: GoalTree, text: str, verdict: Verdict) -> Routing:
    """Decide on the newest tree what a comment does.

    A goal that ended since the verdict turns `current` and `future` into `past`; one that is still
    pending turns `past` into `future`; a verdict about goals that are not there, or one that is too
    unsure to cancel work, becomes plain injection.
    """
    known = tuple(_newest(tree, goal) for i in verdict.goal_ids if (goal := tree.find(i)) is not None)
    if verdict.goal_ids and not known:
        return _injected(verdict, "the goals that it names are not there")
    impact, note = _newest_impact(tree, verdict, known)
    would_cancel = impact in ("past", "requirement_change") or (impact == "current" and verdict.rejects)
    if would_cancel and verdict.confidence < LEAST_CONFIDENCE:
        return _injected(verdict, f"unsure ({verdict.confidence:.0%}) that work must be undone")
    ids = tuple(goal.id for goal in known)
    match impact:
        case "future":
            edits = _future_edits(tree, text, verdict, known)
        case "past":
            edits = _reopened(tree, known)
            if not edits:
                return _injected(verdict, "none of its goals can be reopened")
        case "current" | "requirement_change":
            edits = ()
    return Routing(impact, ids, would_cancel, edits, verdict.decided_by, note)


def _newest(tree: GoalTree, goal: Goal) -> Goal:
    """Return what stands for a goal now: the last of its replacements."""
    while goal.superseded_by and (newer := tree.find(goal.superseded_by)):
        goal = newer
    return goal


def _injected(verdict: Verdict, why: str) -> Routing:
    return Routing("current", (), False, (), verdict.decided_by, f"joined the context: {why}")


def _newest_impact(tree: GoalTree, verdict: Verdict, known: tuple[Goal, ...]) -> tuple[Impact, str]:
    said = verdict.impact
    if not known or said == "requirement_change":
        # Without a goal there is nothing to reopen: a remark on the past then concerns the plan as a whole.
        return ("requirement_change", "no finished goal is named") if said == "past" else (said, "")
    on_path = {goal.id for goal in tree.path_to(tree.current_id)} if tree.current_id else set()
    if any(not goal.is_open for goal in known):
        return "past", "" if said == "past" else "that goal had ended, so it is taken up again"
    if any(goal.id in on_path or goal.status == "in_progress" for goal in known):
        return "current", "" if said == "current" else f"said {said}, but its goal is being worked on"
    return "future", "" if said == "future" else f"said {said}, but its goal is still pending"


def _future_edits(
    tree: GoalTree, text: str, verdict: Verdict, known: tuple[Goal, ...]
) -> tuple[PlanEdit, ...]:
    """Drop what is turned down, note the comment at the goals that it names, else add it as a goal."""
    remark = one_line(text)[:NOTE_LIMIT_CHARS]
    if known and verdict.rejects:
        return tuple(e for goal in known for e in abandon_goal(tree, goal.id, f"user: {remark}"))
    if known:
        return tuple(GoalRenamed(goal.id, f"{goal.description} (user: {remark})") for goal in known)
    number = tree.counters.get("", 0) + 1
    return (GoalAdded(GoalId(str(number)), None, remark),)


def _reopened(tree: GoalTree, known: Iterable[Goal]) -> tuple[PlanEdit, ...]:
    """Open a replacement of each goal that has ended, and focus the first."""
    edits: tuple[PlanEdit, ...] = ()
    for goal in known:
        if goal.is_open:
            continue
        try:
            edits += reopen(apply_edits(tree, edits), goal.id)
        except GoalRefused:
            # A sub-goal of an earlier mission: it stays as it was, and the comment joins the context.
            continue
    first = next((edit.id for edit in edits if isinstance(edit, GoalAdded)), None)
    return edits if first is None else (*edits, GoalFocused(first))


def aimed_verdict(aim: str, tree: GoalTree) -> Verdict | None:
    """Return the verdict of a comment that the user aimed himself, or None for one that he did not.

    Aims: `now`, `later`, `replan`, `retry:ID`, `goal:ID`.
    """
    kind, _, goal_id = aim.partition(":")
    match kind:
        case "now":
            return Verdict("current", decided_by="user")
        case "later":
            return Verdict("future", decided_by="user")
        case "replan":
            return Verdict("requirement_change", decided_by="user")
        case "retry":
            goal = tree.find(GoalId(goal_id))
            is_open = goal is not None and goal.is_open
            said = Verdict("past", (GoalId(goal_id),), decided_by="user")
            return replace(said, impact="current", rejects=True) if is_open else said
        case "goal":
            return Verdict("current", (GoalId(goal_id),), decided_by="user")
        case _:
            return None


__all__ = [
    "INJECTION",
    "LEAST_CONFIDENCE",
    "DecidedBy",
    "Impact",
    "Routing",
    "Verdict",
    "aimed_verdict",
    "route",
]
