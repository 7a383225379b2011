"""A saved session told up to any of its records, whole or only as far as it counted.

Must not draw and must not know a widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from tori_tui.domain.counted_path import CountedPath, LeftOut, counted_path, left_out
from tori_tui.domain.events import MessageAdded, Record
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.domain.timeline import Timeline, timeline_of
from tori_tui.ui.transcript.blocks import NoticeBlock
from tori_tui.ui.transcript.story import Story

KEPT_EVERY: Final = 500
"""Records between two states that are kept, so that a step back need not begin at the start."""


class Replaying:
    """Holds the records and a place among them; a place is a number of records that are told.

    Args:
        records: Of a session, all that there are so far.
        story: What is told is told to it.
        note: A word that stands before everything; empty for none.
    """

    def __init__(self, records: Sequence[Record], story: Story, note: str = "") -> None:
        self._story = story
        self._note = note
        self._records = tuple(records)
        self._is_path = False
        self._path = CountedPath()
        self._told: Sequence[tuple[int, Record]] = ()
        """What is told, each with its place among all records."""
        self.timeline = Timeline()
        self.place = 0
        self.state = SessionState()
        self._states: dict[int, SessionState] = {0: self.state}
        """By how many records led there: states share nearly everything."""
        self._newest = (0, self.state)
        self._choose()

    @property
    def is_path(self) -> bool:
        """Whether only what counted is told."""
        return self._is_path

    @property
    def at(self) -> Record | None:
        """The newest record that is told; None at the start."""
        return self._told[self.place - 1][1] if self.place else None

    @property
    def next(self) -> Record | None:
        """The record that is told next; None at the end."""
        return self._told[self.place][1] if self.place < len(self._told) else None

    @property
    def is_at_end(self) -> bool:
        """Whether everything is told."""
        return self.place == len(self._told)

    @property
    def end(self) -> SessionState:
        """The state after all records."""
        return self._state_after(len(self._records))

    @cached_property
    def left_out(self) -> LeftOut:
        """What the path leaves out."""
        return left_out(counted_path(self.end), self._records)

    def grow(self, records: Sequence[Record]) -> None:
        """Go on with a longer session, whose beginning is the same."""
        newest = self._records[-1].seq if self._records else 0
        self._records = (*self._records, *(record for record in records if record.seq > newest))
        self.__dict__.pop("left_out", None)
        before = self._path
        self._choose()
        if before != self._path:
            self._begin_anew(self.place)

    def show_path(self, is_path: bool) -> None:
        """Tell only what counted, or everything, at the same moment of the session."""
        seq = self.at.seq if self.at is not None else 0
        was_at_end = self.is_at_end
        self._is_path = is_path
        self._choose()
        n_before = sum(1 for _, record in self._told if record.seq <= seq)
        self._begin_anew(len(self._told) if was_at_end else n_before)

    def go_to(self, place: int) -> None:
        """Tell everything up to a place."""
        place = max(0, min(place, len(self._told)))
        if place < self.place:
            self._begin_anew(place)
        else:
            self._go_on(place)

    def message_end(self, step: int) -> int:
        """Return the place of the next (1) or the last (-1) message; without one, the end or the start."""
        places = range(self.place, len(self._told)) if step > 0 else range(self.place - 2, -1, -1)
        found = (place + 1 for place in places if isinstance(self._told[place][1].event, MessageAdded))
        return next(found, len(self._told) if step > 0 else 0)

    # ── telling ──

    def _choose(self) -> None:
        if self._is_path:
            self._path = counted_path(self.end)
            told = ((at, self._path.told(record)) for at, record in enumerate(self._records))
            self._told = [(at, record) for at, record in told if record is not None]
        else:
            self._path = CountedPath()
            self._told = list(enumerate(self._records))
        self.timeline = timeline_of([record for _, record in self._told])

    def _begin_anew(self, place: int) -> None:
        self._story.tell_state(SessionState())
        if self._note:
            self._story.tell_note(NoticeBlock(self._note, "warning"))
        self.place, self.state = 0, SessionState()
        self._go_on(place)

    def _go_on(self, place: int) -> None:
        self._story.tell_more([record for _, record in self._told[self.place : place]], self.state)
        self.place = place
        # What is hidden behind the last record that is told belongs to the end.
        is_end = place == len(self._told)
        n_records = len(self._records) if is_end else self._told[place - 1][0] + 1 if place else 0
        self.state = self._path.seen(self._state_after(n_records))

    def _state_after(self, n_records: int) -> SessionState:
        """Return the state after so many records, made from the nearest earlier one that is known."""
        known = max(n for n in self._states if n <= n_records)
        state = self._states[known]
        if known <= self._newest[0] <= n_records:
            known, state = self._newest
        while known < n_records:
            stop = min(n_records, (known // KEPT_EVERY + 1) * KEPT_EVERY)
            state = reduce_all(self._records[known:stop], state)
            known = stop
            if known % KEPT_EVERY == 0:
                self._states[known] = state
        self._newest = (known, state)
        return state


__all__ = ["Replaying"]
