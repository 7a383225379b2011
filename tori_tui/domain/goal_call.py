"""What a call of the goal tool means: the model's wishes in, edits of the plan or a refusal out.

Pure: the tree is never changed here, and nothing is run; the runner runs a check and applies the edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.domain.goal_list import GoalText, read_goals
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    PlanEdit,
    apply_edits,
    primes_key,
)
from tori_tui.domain.plan_text import goal_title

PRIME: Final = "'"

GOAL_ID: Final = re.compile(
    r"^(?:goal\s+)?[#\[]?(?P<id>\d+['p]*(?:\.\d+['p]*)*)(?:\]|\.|:)?(?:\s.*)?$", re.I | re.S
)

MAX_DEPTH: Final = 16
"""Levels of goals. Plans need two or three; the bound keeps recursion over the tree harmless."""

LISTED_GOALS: Final = 8
"""How many goals a message to the model names."""

TITLE_LIMIT_CHARS: Final = 80


class GoalRefused(ToriError):
    """A goal call that the plan does not allow; the message tells the model what to do instead."""


@dataclass(frozen=True, slots=True)
class GoalWishes:
    """The arguments of a goal call. None or blank is not asked for."""

    add: str | Sequence[str] | None = None
    done: str | None = None
    abandon: str | None = None
    focus: str | None = None


def plan_goal_call(tree: GoalTree, wishes: GoalWishes) -> tuple[PlanEdit, ...]:
    """Return the edits that the wishes come to: done or abandon, then add, then focus.

    Completions carry no evidence yet: see `needs_check`.

    Raises:
        GoalRefused: The plan does not allow it.
    """
    done, abandon = _said(wishes.done), _said(wishes.abandon)
    added = read_goals(wishes.add or ())
    focus = _said(wishes.focus)
    if done and abandon:
        raise GoalRefused("done and abandon exclude each other.", "Give the one that is true.")
    if not (done or abandon or added or focus):
        raise GoalRefused(
            "This goal call asks for nothing.",
            "Give add, done (with the result), abandon (with the reason) or focus (with an id).",
        )
    edits: list[PlanEdit] = []
    if done:
        edits += _done(tree, done)
    given_up = _ended_by(tree, "abandon") if abandon else None
    if given_up and abandon:
        edits += abandon_goal(tree, given_up.id, abandon)
    tree = apply_edits(tree, edits)
    places = _replacements(tree, given_up, added) if given_up else _additions(tree, added)
    tree = apply_edits(tree, places)
    edits += places
    if focus:
        edits += _focus(tree, parse_goal_id(focus))
    return tuple(edits)


def needs_check(tree: GoalTree, edits: Iterable[PlanEdit]) -> Goal | None:
    """Return the goal whose check must be green before these edits may be applied to the tree."""
    for edit in edits:
        if isinstance(edit, GoalCompleted) and edit.evidence is None:
            goal = tree.find(edit.id)
            if goal is not None and goal.check:
                return goal
    return None


def abandon_goal(tree: GoalTree, goal_id: GoalId, reason: str) -> tuple[PlanEdit, ...]:
    """Return the edits that give up a goal with what is open below it.

    The focus moves to the parent if it stood on the goal or below it.

    Raises:
        GoalRefused: There is no such goal, or it has ended.
    """
    goal = _find(tree, goal_id)
    if not goal.is_open:
        raise GoalRefused(f"Goal {goal.id} is {goal.status} already.", _open_goals_hint(tree))
    below = [part for part in goal.walk() if part.is_open and part is not goal]
    edits: list[PlanEdit] = [GoalAbandoned(part.id, f"given up with {goal.id}") for part in reversed(below)]
    edits.append(GoalAbandoned(goal.id, reason))
    if tree.current_id in {part.id for part in goal.walk()}:
        edits.append(GoalFocused(_open_parent(tree, goal.id)))
    return tuple(edits)


def reopen(tree: GoalTree, goal_id: GoalId) -> tuple[PlanEdit, ...]:
    """Return the edits that open an ended goal again, as a replacement beside it.

    The newest replacement stands for the goal, so reopening `1` twice gives `1'` and then `1''`.

    Raises:
        GoalRefused: There is no such goal, it is still open, or it belongs to an earlier mission.
    """
    goal = _find(tree, goal_id)
    while goal.superseded_by and (newer := tree.find(goal.superseded_by)):
        goal = newer
    if goal.is_open:
        raise GoalRefused(f"Goal {goal.id} is open.", f"Focus it: {goal.id}.")
    path = tree.path_to(goal.id)
    if len(path) > 1 and path[0] not in tree.mission_goals:
        raise GoalRefused(
            f"Goal {goal.id} belongs to an earlier mission.", f"Reopen {path[0].id}, or add a new goal."
        )
    new_id = _free_prime(tree, goal.id, frozenset())
    return (
        GoalAdded(
            new_id,
            path[-2].id if len(path) > 1 else None,
            goal.description,
            goal.check,
            goal.check_by,
            after_id=goal.id,
            replaces=goal.id,
        ),
    )


def parse_goal_id(text: str) -> GoalId:
    """Return the id that a model or a user means: `2p` and `2’` are `2'`, `goal 2.1` is `2.1`.

    Raises:
        GoalRefused: The text names no id.
    """
    plain = text.strip().replace("’", PRIME).replace("′", PRIME).replace("″", PRIME * 2)
    found = GOAL_ID.match(plain)
    if found is None:
        raise GoalRefused(f"{text[:TITLE_LIMIT_CHARS]!r} is no goal id.", "Ids look like 1, 2.1 or 2'.")
    return GoalId(found["id"].lower().replace("p", PRIME))


def describe_outcome(before: GoalTree, after: GoalTree, edits: Iterable[PlanEdit]) -> str:
    """Return what a goal call changed, where the work stands now and what comes next, for the model."""
    edits = tuple(edits)
    lines = [_title(after, e.id, "Done: {}.") for e in edits if isinstance(e, GoalCompleted)]
    if given_up := [str(e.id) for e in edits if isinstance(e, GoalAbandoned)]:
        lines.append(f"Abandoned: {', '.join(reversed(given_up))}.")
    if added := [e for e in edits if isinstance(e, GoalAdded)]:
        lines.append(f"Added: {_listed(tuple(g for e in added if (g := after.find(e.id))))}.")
    if after.current_id:
        path = " > ".join(goal_title(g, TITLE_LIMIT_CHARS) for g in after.path_to(after.current_id))
        lines.append(f"Current: {path}.")
    upcoming = after.next_pending()
    if upcoming is not None:
        hint = "" if after.current_id else f' Focus it: goal(focus="{upcoming.id}").'
        lines.append(f"Next pending: {goal_title(upcoming, TITLE_LIMIT_CHARS)}.{hint}")
    elif not after.open_goals and before.open_goals:
        lines.append("No goal is open. Verify the whole, then answer.")
    return "\n".join(lines)


def _said(text: str | None) -> str:
    return text.strip() if text else ""


def _ended_by(tree: GoalTree, verb: str) -> Goal:
    """Return the focused goal, which is to end."""
    goal = tree.current
    if goal is None:
        raise GoalRefused(
            f"{verb} needs a focused goal, and none is focused.",
            "Focus the goal that you mean, then call it again. " + _open_goals_hint(tree),
        )
    if not goal.is_open:
        raise GoalRefused(f"Goal {goal.id} is {goal.status} already.", _open_goals_hint(tree))
    return goal


def _done(tree: GoalTree, summary: str) -> tuple[PlanEdit, ...]:
    goal = _ended_by(tree, "done")
    still_open = tuple(part for part in goal.walk() if part.is_open and part is not goal)
    if still_open:
        raise GoalRefused(
            f"Goal {goal.id} has open goals below it: {_listed(still_open)}.",
            "Finish them first, or abandon them with a reason.",
        )
    return GoalCompleted(goal.id, summary), GoalFocused(_open_parent(tree, goal.id))


def _additions(tree: GoalTree, added: Sequence[GoalText]) -> tuple[PlanEdit, ...]:
    if not added:
        return ()
    parent_id = tree.current_id
    parent = tree.current
    if parent is not None and not parent.is_open:
        parent_id = _open_parent(tree, parent.id)
    if parent_id and len(tree.path_to(parent_id)) >= MAX_DEPTH:
        raise GoalRefused(
            f"Goal {parent_id} is {MAX_DEPTH} levels deep.", "Work on it without goals of its own."
        )
    first = tree.counters.get(parent_id or "", 0) + 1
    prefix = f"{parent_id}." if parent_id else ""
    return tuple(
        GoalAdded(GoalId(f"{prefix}{number}"), parent_id, text.description, text.check)
        for number, text in enumerate(added, first)
    )


def _replacements(tree: GoalTree, given_up: Goal, added: Sequence[GoalText]) -> tuple[PlanEdit, ...]:
    parent = tree.parent_of(given_up.id)
    after_id = given_up.id
    used: set[GoalId] = set()
    edits: list[PlanEdit] = []
    for text in added:
        new_id = _free_prime(tree, given_up.id, used)
        used.add(new_id)
        edits.append(
            GoalAdded(
                new_id,
                parent.id if parent else None,
                text.description,
                text.check,
                after_id=after_id,
                replaces=given_up.id,
            )
        )
        after_id = new_id
    return tuple(edits)


def _free_prime(tree: GoalTree, goal_id: GoalId, used: Iterable[GoalId]) -> GoalId:
    base = goal_id.rstrip(PRIME)
    taken = {*used, *(sibling.id for sibling in tree.siblings_of(goal_id))}
    standing = (len(i) - len(base) for i in {*taken, goal_id} if i.rstrip(PRIME) == base)
    # A rewind takes goals out of the tree; the counter knows them still.
    primes = max(tree.counters.get(primes_key(base), 0), *standing)
    return GoalId(base + PRIME * (primes + 1))


def _focus(tree: GoalTree, goal_id: GoalId) -> tuple[PlanEdit, ...]:
    goal = _find(tree, goal_id)
    if not goal.is_open:
        newer = f" {goal.superseded_by} took its place." if goal.superseded_by else ""
        raise GoalRefused(
            f"Goal {goal.id} is {goal.status} and stays so.{newer}",
            "To do more on it, add a goal. " + _open_goals_hint(tree),
        )
    if tree.missions and tree.path_to(goal.id)[0] not in tree.mission_goals:
        raise GoalRefused(
            f"Goal {goal.id} belongs to an earlier mission.", "Add a goal for what is left of it."
        )
    return (GoalFocused(goal.id),)


def _find(tree: GoalTree, goal_id: GoalId) -> Goal:
    goal = tree.find(goal_id)
    if goal is None:
        raise GoalRefused(f"There is no goal {goal_id}.", _open_goals_hint(tree))
    return goal


def _open_parent(tree: GoalTree, goal_id: GoalId) -> GoalId | None:
    """Return the nearest open goal above: a reopened goal may stand below a finished one."""
    above = tree.path_to(goal_id)[:-1]
    return next((goal.id for goal in reversed(above) if goal.is_open), None)


def _open_goals_hint(tree: GoalTree) -> str:
    return f"Open goals: {_listed(tree.open_goals)}." if tree.open_goals else "No goal is open: add one."


def _listed(goals: Sequence[Goal]) -> str:
    shown = ", ".join(goal_title(goal, TITLE_LIMIT_CHARS) for goal in goals[:LISTED_GOALS])
    left = len(goals) - LISTED_GOALS
    return f"{shown} and {left} more" if left > 0 else shown


def _title(tree: GoalTree, goal_id: GoalId, form: str) -> str:
    goal = tree.find(goal_id)
    return form.format(goal_title(goal, TITLE_LIMIT_CHARS) if goal else goal_id)


__all__ = [
    "GoalRefused",
    "GoalWishes",
    "abandon_goal",
    "describe_outcome",
    "needs_check",
    "parse_goal_id",
    "plan_goal_call",
    "reopen",
]
