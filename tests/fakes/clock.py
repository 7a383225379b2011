"""A clock that the test turns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tori_tui.runtime.clock import Clock

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class FakeClock:
    """Time that moves only when it is slept or advanced; sleeping yields once."""

    elapsed_s: float = 0.0
    slept_s: list[float] = field(default_factory=list)

    def advance(self, seconds: float) -> None:
        self.elapsed_s += seconds

    def now(self) -> datetime:
        return START + timedelta(milliseconds=round(self.elapsed_s * 1000))

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.elapsed_s += seconds
        await asyncio.sleep(0)

    def as_clock(self) -> Clock:
        return Clock(self.now, lambda: self.elapsed_s, self.sleep, lambda: 0.5)
