"""The records of a session for its screen: those that opening it has read, so that none is read twice.

Must not keep them after they were handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tori_tui.domain.events import Record
from tori_tui.domain.ids import Seq


class SessionRecords:
    """Notes records while a trace is opened, and hands them on once.

    Args:
        read: Reads a trace anew.
    """

    def __init__(self, read: Callable[[Path], Sequence[Record]]) -> None:
        self._read = read
        self._noted: list[Record] = []

    def note(self, record: Record) -> None:
        """Keep one more record."""
        self._noted.append(record)

    def before(self, directory: Path, seq: Seq) -> Sequence[Record]:
        """Return the records of a trace before one, in order; those noted, if nothing came after them.

        Raises:
            TraceError: It had to be read and cannot be.
        """
        noted, self._noted = self._noted, []
        if noted and noted[-1].seq + 1 == seq:
            return noted
        return tuple(record for record in self._read(directory) if record.seq < seq)


__all__ = ["SessionRecords"]
