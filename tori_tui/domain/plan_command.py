"""`/plan …`: what the user types about the plan, as edits of it.

Pure. Must not apply anything; the runner does, at its next safe point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from tori_tui.domain.goal_call import GoalRefused, GoalWishes, abandon_goal, parse_goal_id, plan_goal_call
from tori_tui.domain.goals import Budget, Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import (
    GoalAdded,
    GoalBudgetSet,
    GoalCheckSet,
    GoalFocused,
    GoalMoved,
    GoalPinned,
    GoalRenamed,
    PlanEdit,
    apply_edits,
)
from tori_tui.domain.plan_text import one_line

BELOW: Final = re.compile(r"^(?P<id>\d+[\d.'p]*)\s*:\s+(?P<text>.+)$", re.S)

_BUDGET: Final = re.compile(
    r"^\$?(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>turns?|s|sec|seconds?|min|minutes?|\$|usd)?$", re.I
)

OFF: Final = frozenset({"off", "none", "-"})


def read_plan_command(tree: GoalTree, text: str) -> tuple[PlanEdit, ...]:
    """Return the edits of a `/plan` command, the word `plan` left out.

    Forms: `add [ID:] TEXT`, `drop ID [REASON]`, `rename ID TEXT`, `move ID up|down|first|last|after ID`,
    `focus ID`, `done ID [SUMMARY]`, `check ID COMMAND|off`, `budget ID $0.50|5 turns|90 s|off`, `pin ID`,
    `unpin ID`.

    Raises:
        GoalRefused: The command is none of these, or the plan does not allow it; says what to write.
    """
    word, _, rest = text.strip().partition(" ")
    read = _READERS.get(word.lower())
    if read is None:
        raise GoalRefused(
            f"/plan {one_line(word, 40)} is no command.",
            f"Write /plan {' | '.join(_READERS)} …, or /plan edit.",
        )
    return read(tree, rest.strip())


def _add(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    below = BELOW.match(rest)
    place: GoalId | None = None
    if below is not None and (goal := tree.find(parse_goal_id(below["id"]))) is not None:
        place, rest = _open(goal).id, below["text"]
    if not rest:
        raise GoalRefused("There is no goal to add.", "Write /plan add TEXT, or /plan add 2: TEXT.")
    edits = plan_goal_call(replace(tree, current_id=place), GoalWishes(add=rest))
    return tuple(replace(edit, check_by="user") if isinstance(edit, GoalAdded) else edit for edit in edits)


def _drop(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, reason = _goal_and_rest(tree, rest, "/plan drop ID REASON")
    return abandon_goal(tree, goal.id, reason or "dropped by the user")


def _rename(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, description = _goal_and_rest(tree, rest, "/plan rename ID TEXT", needs_rest=True)
    return (GoalRenamed(goal.id, one_line(description)),)


def _move(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    form = "/plan move ID up|down|first|last|after ID"
    goal, where = _goal_and_rest(tree, rest, form, needs_rest=True)
    others = [g.id for g in tree.siblings_of(goal.id) if g.id != goal.id]
    at = next(i for i, g in enumerate(tree.siblings_of(goal.id)) if g.id == goal.id)
    match where.lower().split():
        case ["up"]:
            place = max(0, at - 1)
        case ["down"]:
            place = min(len(others), at + 1)
        case ["first"]:
            place = 0
        case ["last"]:
            place = len(others)
        case ["after", other] if parse_goal_id(other) in others:
            place = others.index(parse_goal_id(other)) + 1
        case _:
            raise GoalRefused(
                f"{one_line(where, 40)!r} is no place among the goals beside {goal.id}.", f"Write {form}."
            )
    return (GoalMoved(goal.id, others[place - 1] if place else None),)


def _focus(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, _ = _goal_and_rest(tree, rest, "/plan focus ID")
    return plan_goal_call(tree, GoalWishes(focus=goal.id))


def _done(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, summary = _goal_and_rest(tree, rest, "/plan done ID SUMMARY")
    there = apply_edits(tree, (GoalFocused(_open(goal).id),))
    edits = plan_goal_call(there, GoalWishes(done=summary or "done, says the user"))
    if tree.current_id in {part.id for part in goal.walk()}:
        return edits
    return tuple(edit for edit in edits if not isinstance(edit, GoalFocused))


def _check(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, command = _goal_and_rest(tree, rest, "/plan check ID COMMAND, or off", needs_rest=True)
    return (GoalCheckSet(goal.id, None if command.lower() in OFF else command, "user"),)


def _budget(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    form = "/plan budget ID $0.50, or 5 turns, or 90 s, or off"
    goal, wish = _goal_and_rest(tree, rest, form, needs_rest=True)
    if wish.lower() in OFF:
        return (GoalBudgetSet(goal.id, None),)
    found = _BUDGET.match(wish)
    if found is None:
        raise GoalRefused(f"{one_line(wish, 40)!r} is no budget.", f"Write {form}.")
    number, unit = float(found["number"]), (found["unit"] or "").lower()
    before = goal.budget or Budget()
    if wish.startswith("$") or unit in ("$", "usd"):
        budget = replace(before, cost_usd=number)
    elif unit.startswith("turn") or not unit:
        budget = replace(before, turns=int(number))
    else:
        budget = replace(before, seconds=number * (60 if unit.startswith("min") else 1))
    return (GoalBudgetSet(goal.id, budget),)


def _pin(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, _ = _goal_and_rest(tree, rest, "/plan pin ID")
    return (GoalPinned(goal.id, pinned=True),)


def _unpin(tree: GoalTree, rest: str) -> tuple[PlanEdit, ...]:
    goal, _ = _goal_and_rest(tree, rest, "/plan unpin ID")
    return (GoalPinned(goal.id, pinned=False),)


def _goal_and_rest(tree: GoalTree, text: str, form: str, *, needs_rest: bool = False) -> tuple[Goal, str]:
    word, _, rest = text.partition(" ")
    if not word:
        raise GoalRefused("No goal is named.", f"Write {form}.")
    goal_id = parse_goal_id(word)
    goal = tree.find(goal_id)
    if goal is None:
        known = ", ".join(str(g.id) for g in tree.walk()) or "none"
        raise GoalRefused(f"There is no goal {goal_id}.", f"The goals are: {known}.")
    if needs_rest and not rest.strip():
        raise GoalRefused(f"Something is missing behind {goal_id}.", f"Write {form}.")
    return goal, rest.strip()


def _open(goal: Goal) -> Goal:
    if not goal.is_open:
        raise GoalRefused(
            f"Goal {goal.id} is {goal.status} already.", f"Write /retry {goal.id} to open it again."
        )
    return goal


_READERS: Final[Mapping[str, Callable[[GoalTree, str], tuple[PlanEdit, ...]]]] = MappingProxyType(
    {
        "add": _add,
        "drop": _drop,
        "rename": _rename,
        "move": _move,
        "focus": _focus,
        "done": _done,
        "check": _check,
        "budget": _budget,
        "pin": _pin,
        "unpin": _unpin,
    }
)

PLAN_WORDS: Final = tuple(_READERS)
"""With which a `/plan` command begins."""

__all__ = ["PLAN_WORDS", "read_plan_command"]
