"""A trace store in memory that can be full."""

from __future__ import annotations

from dataclasses import dataclass, field

from tori_tui.domain.events import Record
from tori_tui.trace.codec import decode, encode
from tori_tui.trace.errors import TraceDiskFull


@dataclass
class FakeStore:
    """Keeps encoded lines, so that what comes back went through the codec."""

    lines: list[bytes] = field(default_factory=list)
    full_for: int = 0
    """How many further appends fail."""
    n_syncs: int = 0

    def append(self, record: Record) -> None:
        if self.full_for:
            self.full_for -= 1
            raise TraceDiskFull("the disk is full")
        self.lines.append(encode(record))

    async def sync(self) -> None:
        self.n_syncs += 1

    def close(self) -> None:
        pass

    def records(self) -> list[Record]:
        decoded = (decode(line) for line in self.lines)
        return [record for record in decoded if record is not None]
