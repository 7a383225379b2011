"""Where a rewind leads: from a goal or a turn to the record, and from the record to the saved trees.

Pure. Must not restore anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import Rewound
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import GoalId, MissionId, Seq
from tori_tui.domain.moments import SavedPoint
from tori_tui.domain.plan_text import goal_title
from tori_tui.domain.state import SessionState
from tori_tui.domain.value import Value

TITLE_LIMIT_CHARS: Final = 80

REWIND_REASON: Final = "rewind"
"""Of the checkpoint that follows a rewind: it is nobody's work."""


FORK_REASON: Final = "forked from "
"""So begins why a session stands still that nobody has gone on with since it was forked."""


class RewindRefused(UsageError):
    """There is nothing to go back to: who asked named a place that is none."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RewindPoint(Value):
    """A moment that can be gone back to."""

    seq: Seq
    title: str
    goal_id: GoalId | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Interval(Value):
    """Two neighbouring saved trees between which the agent worked."""

    before: str
    after: str
    goal_id: GoalId | None
    turn: int


def rewind_points(state: SessionState) -> tuple[RewindPoint, ...]:
    """Return the beginning of every goal and turn that is still part of the session, in order."""
    points: list[RewindPoint] = []
    opened: set[GoalId] = set()
    for moment in state.past.moments:
        if state.past.is_lost(moment.seq):
            continue
        current = moment.tree.current_id
        for goal in moment.tree.path_to(current) if current else ():
            if goal.id not in opened:
                opened.add(goal.id)
                points.append(_goal_point(moment.seq, goal))
        if moment.is_turn:
            points.append(RewindPoint(moment.seq, f"turn {moment.turn}", turn=moment.turn))
    return tuple(points)


def find_point(state: SessionState, *, goal: GoalId | None = None, turn: int | None = None) -> RewindPoint:
    """Return the moment before a goal was worked on, or before a turn.

    Raises:
        RewindRefused: There is no such moment; the message names those that there are.
    """
    points = rewind_points(state)
    for point in points:
        if (goal is not None and point.goal_id == goal) or (turn is not None and point.turn == turn):
            return point
    if goal is not None:
        begun = ", ".join(str(p.goal_id) for p in points if p.goal_id)
        what = "has not begun" if state.tree.find(goal) else "is not in the plan"
        raise RewindRefused(f"Goal {goal} {what}.", f"Goals to go back to: {begun or 'none'}.")
    turns = [p.turn for p in points if p.turn is not None]
    span = f"{turns[0]} to {turns[-1]}" if turns else "none"
    raise RewindRefused(f"There is no turn {turn} to go back to.", f"Turns to go back to: {span}.")


def turn_after(state: SessionState, seq: Seq) -> int | None:
    """Return the first turn after a record that can be gone back to before; None where none followed."""
    points = (point for point in rewind_points(state) if point.turn is not None and point.seq >= seq)
    return next((point.turn for point in points), None)


def next_undo(state: SessionState, how: Literal["undo", "redo"]) -> Rewound:
    """Return the record that undoes the newest rewind, or redoes what was undone; its files not known yet.

    Raises:
        RewindRefused: There is nothing to undo or redo.
    """
    past = state.past
    stack = past.to_undo if how == "undo" else past.to_redo
    if not stack:
        raise RewindRefused(f"There is nothing to {how}.", "A rewind can be undone, an undo redone.")
    last = stack[-1]
    return Rewound(Seq(last.seq - 1), last.messages, last.files, how, last.title)


def saved_since(state: SessionState, seq: Seq) -> tuple[SavedPoint, ...]:
    """Return the checkpoint that holds the tree as it was at a record, and all that follow."""
    points = state.past.checkpoints
    first = 0
    for index, point in enumerate(points):
        if (point.event.at_seq or point.seq) <= seq:
            first = index
    return tuple(points[first:])


def agent_intervals(state: SessionState, goal_id: GoalId | None = None) -> tuple[Interval, ...]:
    """Return between which saved trees the agent changed files: for a goal with all below it, or for all.

    Work that was rewound away is none; what undoes that rewind makes it work again.

    Raises:
        RewindRefused: The session never had such a goal.
    """
    goal = goal_ever(state, goal_id) if goal_id else None
    wanted = {part.id for part in goal.walk()} if goal else None
    found: list[Interval] = []
    points = state.past.checkpoints
    for before, after in pairwise(points):
        event = after.event
        is_work = event.by == "agent" and event.reason != REWIND_REASON
        if is_work and state.past.is_undone(event.at_seq or after.seq):
            continue
        if is_work and (wanted is None or event.goal_id in wanted):
            found.append(Interval(before.event.tree, event.tree, event.goal_id, event.turn))
    return tuple(found)


def goal_ever(state: SessionState, goal_id: GoalId) -> Goal:
    """Return a goal as the session knew it last, whether or not a rewind took it out of the plan.

    Raises:
        RewindRefused: The session never had it.
    """
    if (goal := state.tree.find(goal_id)) is not None:
        return goal
    for moment in reversed(state.past.moments):
        if (goal := moment.tree.find(goal_id)) is not None:
            return goal
    raise RewindRefused(f"There is no goal {goal_id}.", "`tori show` prints the plan with its ids.")


def befores_since(state: SessionState, seq: Seq) -> Mapping[str, str | None]:
    """Return the kept bytes of files that a file tool changed after a record; None for one that it made."""
    found: dict[str, str | None] = {}
    for write in state.past.writes:
        if write.seq > seq and write.intent.path not in found:
            intent = write.intent
            is_new = intent.before_sha256 is None
            if is_new or intent.before_output is not None:
                found[intent.path] = intent.before_output
    return found


def touched_paths(state: SessionState) -> tuple[str, ...]:
    """Return every file that a file tool ever changed."""
    return tuple({write.intent.path: None for write in state.past.writes})


def next_mission_id(state: SessionState) -> MissionId:
    """Return an id that no mission of the session ever had, those that a rewind took back included."""
    ids = {entry.mission_id for entry in state.log} | {mission.id for mission in state.tree.missions}
    numbers = [int(i[1:]) for i in ids if i is not None and i[1:].isdecimal()]
    return MissionId(f"m{max(numbers, default=0) + 1}")


def _goal_point(seq: Seq, goal: Goal) -> RewindPoint:
    return RewindPoint(seq, f"goal {goal_title(goal, TITLE_LIMIT_CHARS)}", goal_id=goal.id)


__all__ = [
    "FORK_REASON",
    "REWIND_REASON",
    "Interval",
    "RewindPoint",
    "RewindRefused",
    "agent_intervals",
    "befores_since",
    "find_point",
    "goal_ever",
    "next_mission_id",
    "next_undo",
    "rewind_points",
    "saved_since",
    "touched_paths",
    "turn_after",
]
