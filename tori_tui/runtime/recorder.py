"""The one place where a session's state changes: persist, reduce, publish.

Must not decide anything; it is told what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tori_tui.domain.events import DurableEvent, NoticeShown, Record, TransientEvent
from tori_tui.domain.state import SessionState, reduce
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.clock import Clock
from tori_tui.trace.errors import TraceDiskFull, TraceError
from tori_tui.trace.store import TraceStore

DISK_RETRY_S: Final = 2.0
"""How long to wait for room on a full disk before the next try; short enough to go on soon."""


class Recorder:
    """Owns the state of a session. Everyone else reads frozen snapshots of it.

    Args:
        cleaned: Returns a record as it may be kept; the same one where nothing must go.
    """

    def __init__(
        self,
        store: TraceStore,
        bus: Bus,
        state: SessionState,
        clock: Clock,
        cleaned: Callable[[Record], Record] = lambda record: record,
    ) -> None:
        self._store = store
        self._bus = bus
        self._state = state
        self._clock = clock
        self._cleaned = cleaned

    @property
    def state(self) -> SessionState:
        """The state after the newest durable event."""
        return self._state

    def emit(self, event: DurableEvent) -> Record:
        """Record, apply and announce one event. The only place where state changes. Never awaits.

        Raises:
            TraceDiskFull: Nothing was recorded, applied or announced.
        """
        record = self._cleaned(Record(self._state.next_seq, self._clock.now(), event))
        self._store.append(record)
        self._state = reduce(self._state, record)
        self._bus.publish(record, self._state)
        return record

    async def record(self, event: DurableEvent) -> Record:
        """Like `emit`, but wait out a full disk, saying so; meanwhile nothing is applied."""
        while True:
            try:
                return self.emit(event)
            except TraceDiskFull as full:
                self.announce(NoticeShown(f"{full} Trying again every {DISK_RETRY_S:g} s.", "error"))
                await self._clock.sleep(DISK_RETRY_S)

    def announce(self, event: TransientEvent) -> None:
        """Show something that is not kept."""
        self._bus.announce(event)

    async def sync(self) -> None:
        """Return when every record so far is on the disk, waiting out a full one."""
        while True:
            try:
                return await self._store.sync()
            except (TraceError, OSError) as error:
                self.announce(NoticeShown(f"The trace cannot be synced: {error}", "error"))
                await self._clock.sleep(DISK_RETRY_S)


__all__ = ["DISK_RETRY_S", "Recorder"]
