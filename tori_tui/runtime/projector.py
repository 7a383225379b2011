"""Writes the trace's projections beside the run, newest state only.

Must not be waited for by a turn: a projection may lag behind, since the records can rebuild it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from tori_tui.domain.state import SessionState
from tori_tui.trace.errors import TraceError


class Projector:
    """Keeps `goal.json` and `meta.json` near the state. Renaming a file takes milliseconds on some disks.

    Args:
        write: Writes both files; called in a thread, never twice at once.
    """

    def __init__(self, write: Callable[[SessionState], None]) -> None:
        self._write = write
        self._newest: SessionState | None = None
        self._wanted = asyncio.Event()
        self._lock = threading.Lock()

    def note(self, state: SessionState) -> None:
        """Have a state written soon; one that is noted later takes its place."""
        self._newest = state
        self._wanted.set()

    async def serve(self) -> None:
        """Write what was noted, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if (state := self._newest) is not None:
                await asyncio.to_thread(self._write_one, state)

    def finish(self, state: SessionState) -> None:
        """Write the last state, once a write that is still going on has ended."""
        self._write_one(state)

    def _write_one(self, state: SessionState) -> None:
        with self._lock:
            try:
                self._write(state)
            except TraceError:
                # No room now; the records have it all, and the next write tries again.
                return


__all__ = ["Projector"]
