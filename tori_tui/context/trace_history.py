"""The records of a trace, and what the inspector must know of them: read once, or on as the trace grows.

Must not tell what a request held; `inspector` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tori_tui.domain.events import MessagesFolded, Record, TurnFinished
from tori_tui.domain.ids import ContextId, Seq
from tori_tui.domain.inspection import SentPart
from tori_tui.domain.messages import Message
from tori_tui.domain.state import SessionState, reduce_all

FoldMaker = tuple[Record, str]
"""The record that made a fold, and what it says of its rule."""


@dataclass(slots=True)
class TraceHistory:
    """Records in order. What is told twice is made once: states, and the parts of the view."""

    records: list[Record] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    """Indices of the records that close a turn."""
    befores: dict[int, int] = field(default_factory=dict)
    """For each of them that of the turn before it in the same context."""
    newest: dict[ContextId, int] = field(default_factory=dict)
    """For each context its last one."""
    end: SessionState = field(default_factory=SessionState)
    """The state after all records."""
    known_parts: dict[tuple[int, ...], tuple[tuple[Message, ...], SentPart]] = field(default_factory=dict)
    """Parts of views by their messages' identities, beside the messages, so that those stay the same."""
    _states: dict[ContextId, tuple[int, SessionState]] = field(default_factory=dict)
    """Before the newest turn of each context."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> TraceHistory:
        """Read the records once."""
        history = cls()
        history.grow(records)
        return history

    def grow(self, records: Iterable[Record]) -> None:
        """Go on with more records."""
        start = len(self.records)
        self.records += records
        lasts: dict[ContextId, int] = {}
        for at in range(start, len(self.records)):
            event = self.records[at].event
            if isinstance(event, TurnFinished):
                self.turns.append(at)
                if event.context in self.newest:
                    self.befores[at] = self.newest[event.context]
                self.newest[event.context] = lasts[event.context] = at
        # Each state on the way costs time: only those are made that are asked for again.
        for context, at in sorted(lasts.items(), key=lambda last: last[1]):
            self.end = reduce_all(self.records[start:at], self.end)
            self._states[context] = (at, self.end)
            start = at
        self.end = reduce_all(self.records[start:], self.end)

    def turn(self, at: int) -> TurnFinished:
        """Return the turn that a record closes."""
        event = self.records[at].event
        if not isinstance(event, TurnFinished):
            raise TypeError(f"record {at} closes no turn")
        return event

    def state_before(self, at: int) -> SessionState:
        """Return the state before the record that closes a turn."""
        known_at, state = self._states.get(self.turn(at).context, (-1, self.end))
        return state if known_at == at else reduce_all(self.records[:at])

    def index_of(self, number: int) -> int | None:
        """Return the record that closes a turn by its number, or None."""
        return next((at for at in self.turns if self.turn(at).number == number), None)

    def folds_until(self, at: int) -> dict[tuple[ContextId, tuple[Seq, ...]], FoldMaker]:
        """Return which record made each fold, and what it says of its rule."""
        made: dict[tuple[ContextId, tuple[Seq, ...]], FoldMaker] = {}
        for record in self.records[:at]:
            event = record.event
            if isinstance(event, MessagesFolded):
                rule = f"{event.rule}: {event.reason}" if event.rule else event.reason
                made |= {(event.context, fold.seqs): (record, rule) for fold in event.folds}
        return made


__all__ = ["FoldMaker", "TraceHistory"]
