"""The moments of a session to which it can go back, and what was saved of the work tree at each.

Must not decide where to go back to; `rewind` finds that, a record says it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from tori_tui.domain.events import CheckpointSaved, ContextChanged, FileIntent, Rewound, RunStatusChanged
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import MAIN_CONTEXT, NEVER, ContextId, GoalId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.value import Value, often_made
from tori_tui.domain.view import View


@dataclass(frozen=True, slots=True)
class Span:
    """Records that a rewind took out of the session, both ends included."""

    first: Seq
    last: Seq


IDLE: Final = RunStatusChanged("idle")


@often_made
class Moment(Value):
    """What a rewind to a record takes back. Everything in it is shared with the states of its time."""

    seq: Seq
    """It is as everything was after this record, calls without a result left out."""
    turn: int
    """The newest turn that was finished, its reply not yet in the view."""
    is_turn: bool
    """The reply of that turn follows."""
    tree: GoalTree
    views: Mapping[ContextId, View] = field(kw_only=True)
    """No part of what makes two moments equal: to compare all views of a session takes too long."""
    contexts: Mapping[ContextId, ContextChanged] = field(default_factory=lambda: MappingProxyType({}))
    active_context: ContextId = MAIN_CONTEXT
    home_context: ContextId = MAIN_CONTEXT
    lent_to: GoalId | None = None
    switched_at: Seq = NEVER
    memory: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ended_goals: tuple[GoalId, ...] = ()
    ended_at: Mapping[GoalId, Seq] = field(default_factory=lambda: MappingProxyType({}))
    goal_ended_at_turn: int = -1
    root_ended_at_turn: int = -1
    lost: tuple[Span, ...] = ()
    end: RunStatusChanged = IDLE
    """How the last run had ended; idle in the middle of one."""


@dataclass(frozen=True, slots=True)
class SavedPoint:
    """A checkpoint with its place in the session."""

    seq: Seq
    at: datetime
    event: CheckpointSaved


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A change that a file tool announced, with its record."""

    seq: Seq
    intent: FileIntent


@dataclass(frozen=True, slots=True)
class RewindDone:
    """A rewind that can be undone, or the undoing of one that can be redone."""

    seq: Seq
    messages: bool
    files: bool
    title: str


@often_made
class Past(Value):
    """Where a session can go back to."""

    moments: Log[Moment] = field(default_factory=Log)
    checkpoints: Log[SavedPoint] = field(default_factory=Log)
    writes: Log[FileWrite] = field(default_factory=Log)
    lost: tuple[Span, ...] = ()
    """Of the log, what is no part of the session any more; shown, and found by recall."""
    to_undo: tuple[RewindDone, ...] = ()
    to_redo: tuple[RewindDone, ...] = ()
    files_back: tuple[Span, ...] = ()
    """Of each rewind that took the files back, the records that it goes back over; in order."""

    def is_lost(self, seq: Seq) -> bool:
        """Whether a record was taken back by a rewind."""
        return any(span.first <= seq <= span.last for span in self.lost)

    def moment_at(self, seq: Seq) -> Moment | None:
        """Return the newest moment that is not after a record; None before the first."""
        index = bisect_right(self.moments, seq, key=lambda moment: moment.seq)
        return self.moments[index - 1] if index else None

    def with_moment(self, moment: Moment) -> Past:
        """Return the past with one more moment, unless there is one of the same record."""
        if len(self.moments) and self.moments[-1].seq >= moment.seq:
            return self
        return self._with(self.moments.appended(moment), self.checkpoints, self.writes)

    def with_checkpoint(self, seq: Seq, at: datetime, event: CheckpointSaved) -> Past:
        """Return the past with one more saved state of the work tree."""
        checkpoints = self.checkpoints.appended(SavedPoint(seq, at, event))
        return self._with(self.moments, checkpoints, self.writes)

    def with_writes(self, seq: Seq, intents: Iterable[FileIntent]) -> Past:
        """Return the past with the announced changes of a call."""
        writes = self.writes
        for intent in intents:
            writes = writes.appended(FileWrite(seq, intent))
        return self._with(self.moments, self.checkpoints, writes)

    def _with(self, moments: Log[Moment], checkpoints: Log[SavedPoint], writes: Log[FileWrite]) -> Past:
        """By hand: a third of the time that `replace` takes, at every turn of a long trace."""
        return Past(moments, checkpoints, writes, self.lost, self.to_undo, self.to_redo, self.files_back)

    def after(self, event: Rewound, seq: Seq, moment: Moment | None) -> Past:
        """Return the past after a rewind to a moment."""
        done = RewindDone(seq, event.messages, event.files, event.title)
        to_undo, to_redo = self.to_undo, self.to_redo
        match event.how:
            case "rewind":
                to_undo, to_redo = (*to_undo, done), ()
            case "undo":
                to_undo, to_redo = to_undo[:-1], (*to_redo, done)
            case "redo":
                to_undo, to_redo = (*to_undo, done), to_redo[:-1]
        lost = self.lost
        if event.messages and moment is not None:
            lost = (*moment.lost, Span(Seq(moment.seq + 1), seq))
        files_back = self.files_back
        if event.files:
            files_back = (*files_back, Span(Seq(event.to_seq + 1), seq))
        return replace(self, lost=lost, to_undo=to_undo, to_redo=to_redo, files_back=files_back)

    def is_undone(self, seq: Seq) -> bool:
        """Whether the files as they were saved at a record were taken back by a rewind that stands."""
        lost_at: list[tuple[Seq, tuple[Span, ...]]] = [(NEVER, ())]
        for back in self.files_back:
            # A rewind brings back what was undone at the moment that it leads to.
            then = next(spans for at, spans in reversed(lost_at) if at < back.first)
            lost_at.append((back.last, (*then, back)))
        return any(span.first <= seq <= span.last for span in lost_at[-1][1])


def views_back(now: Mapping[ContextId, View], then: Mapping[ContextId, View]) -> dict[ContextId, View]:
    """Return the views of a moment, as rewrites of those that are there now."""
    return {
        context: View(then.get(context, View()).entries, view.n_rewrites + 1, "rewind")
        for context, view in now.items()
    }


def tree_back(now: GoalTree, then: GoalTree) -> GoalTree:
    """Return the goal tree of a moment; the counters stay, so that no id is given out twice."""
    keys = {**then.counters, **now.counters}
    counters = {key: max(then.counters.get(key, 0), now.counters.get(key, 0)) for key in keys}
    return replace(then, counters=MappingProxyType(counters))


__all__ = [
    "FileWrite",
    "Moment",
    "Past",
    "RewindDone",
    "SavedPoint",
    "Span",
    "tree_back",
    "views_back",
]
