"""Where in a session its turns and goals begin and end, counted in records.

Pure. Must not know how a timeline is drawn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from tori_tui.domain.events import MessageAdded, PlanChanged, Record, Rewound, RunStatusChanged, TurnFinished
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalAbandoned, GoalCompleted, GoalFocused, MissionOpened

MarkKind = Literal["begun", "done", "given_up", "failed", "stopped", "rewound"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn, from the first of its records to behind its last."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that a session is steered by, and how many records there are up to it, itself included."""

    place: int
    kind: MarkKind
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Turns and marks of so many records. A place is a number of records that are shown."""

    n_places: int = 0
    turns: tuple[Turn, ...] = ()
    marks: tuple[Mark, ...] = ()

    def turn_at(self, place: int) -> Turn | None:
        """Return the newest turn of which something is shown; None before the first."""
        index = bisect_left(self.turns, place, key=lambda turn: turn.start)
        return self.turns[index - 1] if index else None

    def turn_end(self, place: int, step: int) -> int:
        """Return where the next (1) or the last (-1) turn ends; without one, the end or the start."""
        ends = [turn.end for turn in self.turns]
        index = bisect_right(ends, place) if step > 0 else bisect_left(ends, place) - 1
        if 0 <= index < len(ends):
            return ends[index]
        return self.n_places if step > 0 else 0

    def end_of_turn(self, number: int) -> int:
        """Return where a turn ends, or the next one that there is, else the end."""
        index = bisect_left(self.turns, number, key=lambda turn: turn.number)
        return self.turns[index].end if index < len(self.turns) else self.n_places

    def goal_begin(self, place: int, step: int) -> int:
        """Return where the next (1) or the last (-1) goal begins; without one, the end or the start."""
        begins = [mark.place for mark in self.marks if mark.kind == "begun"]
        index = bisect_right(begins, place) if step > 0 else bisect_left(begins, place) - 1
        if 0 <= index < len(begins):
            return begins[index]
        return self.n_places if step > 0 else 0

    def begin_of(self, goal_id: GoalId) -> int | None:
        """Return where a goal begins; None where it never did."""
        begins = (mark.place for mark in self.marks if mark.kind == "begun" and mark.goal_id == goal_id)
        return next(begins, None)


def timeline_of(records: Sequence[Record]) -> Timeline:
    """Return the timeline of records, which may lack some of a session's."""
    return Timeline(len(records), tuple(_turns(records)), tuple(_marks(records)))


def _turns(records: Sequence[Record]) -> Iterator[Turn]:
    starts = list(_starts(records))
    for (start, number), following in pairwise([*starts, (len(records), 0)]):
        yield Turn(number, start, _end(records, start, following[0]))


def _starts(records: Sequence[Record]) -> Iterator[tuple[int, int]]:
    """Yield where each turn starts, with its number: those of which a reply is left.

    A reply follows the record of its turn; a trace that lost those still has what the model said.
    """
    newest: tuple[int, int] | None = None
    number = 0
    for at, record in enumerate(records):
        if isinstance(record.event, TurnFinished):
            newest = (at, record.event.number)
        elif _is_reply(record):
            start, told = newest or (at, 0)
            number = max(told, number + 1)
            yield start, number
            newest = None


def _end(records: Sequence[Record], start: int, following: int) -> int:
    """Return where a turn ends: before the user begins something new, at the latest with the next turn."""
    return next((at for at in range(start + 1, following) if _is_beginning(records[at])), following)


def _is_reply(record: Record) -> bool:
    return isinstance(record.event, MessageAdded) and record.event.message.role == "assistant"


def _is_beginning(record: Record) -> bool:
    match event := record.event:
        case RunStatusChanged():
            return event.status == "running"
        case PlanChanged():
            return any(isinstance(edit, MissionOpened) for edit in event.edits)
        case MessageAdded():
            return event.message.origin == "user"
        case _:
            return False


def _marks(records: Iterable[Record]) -> Iterator[Mark]:
    begun: set[GoalId] = set()
    for place, record in enumerate(records, 1):
        match event := record.event:
            case PlanChanged():
                yield from _plan_marks(event, place, begun)
            case Rewound() if event.messages:
                yield Mark(place, "rewound")
            case RunStatusChanged() if event.status == "failed":
                yield Mark(place, "failed")
            case RunStatusChanged() if event.status in ("interrupted", "limit", "incomplete"):
                yield Mark(place, "stopped")
            case _:
                pass


def _plan_marks(event: PlanChanged, place: int, begun: set[GoalId]) -> Iterator[Mark]:
    for edit in event.edits:
        match edit:
            case GoalFocused() if edit.id is not None and edit.id not in begun:
                begun.add(edit.id)
                yield Mark(place, "begun", edit.id)
            case GoalCompleted():
                yield Mark(place, "done", edit.id)
            case GoalAbandoned():
                yield Mark(place, "given_up", edit.id)
            case _:
                pass


__all__ = ["Mark", "MarkKind", "Timeline", "Turn", "timeline_of"]
