"""Time and chance as arguments, so that tests decide what they are.

Must not be read anywhere but through a `Clock` that was handed in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """What the runtime wants of time and chance."""

    now: Callable[[], datetime]
    """UTC, whole milliseconds."""
    monotonic: Callable[[], float]
    """Seconds that never run backwards."""
    sleep: Callable[[float], Awaitable[None]]
    """Wait that many seconds; cancellable."""
    random: Callable[[], float]
    """From 0 to 1, for the jitter of retries."""


__all__ = ["Clock"]
