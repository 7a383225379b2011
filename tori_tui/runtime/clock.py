"""Time as an argument, so that tests decide what it is.

Must not be read anywhere but through a `Clock` that was handed in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """The three things that the runtime wants of time."""

    now: Callable[[], datetime]
    """UTC, whole milliseconds."""
    monotonic: Callable[[], float]
    """Seconds that never run backwards."""
    sleep: Callable[[float], Awaitable[None]]
    """Wait that many seconds; cancellable."""


__all__ = ["Clock"]
