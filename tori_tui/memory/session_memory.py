"""What a session remembers, as other processes see it: its keys and values in a namespace of the store.

Must not be read back by the session itself: its trace is the truth, so that a resumed or rewound session
remembers what it did then, whatever became of the store.
"""

from __future__ import annotations

from collections.abc import Mapping

from tori_tui.domain.ids import TraceId
from tori_tui.memory.base import MemoryStore, session_namespace


class SessionMemory:
    """The shared side of one session's memory."""

    def __init__(self, store: MemoryStore, session_id: TraceId) -> None:
        self._store = store
        self.namespace = session_namespace(session_id)
        """Where another process finds it."""

    async def share(self, entries: Mapping[str, str]) -> None:
        """Let others see exactly these entries, in this order.

        Raises:
            MemoryFailed: The store cannot be used; the session goes on without sharing.
        """
        await self._store.replace_values(self.namespace, tuple(entries.items()))

    async def entries(self) -> dict[str, str]:
        """Return what others see.

        Raises:
            MemoryFailed: The store cannot be used.
        """
        return dict(await self._store.values(self.namespace))


__all__ = ["SessionMemory"]
