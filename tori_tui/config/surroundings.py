"""What a session is opened with beside the settings: the front end's wishes, and the world outside.

Must not decide anything; the composition root does with it what it must.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tori_tui.config.load import user_config_path, user_state_dir
from tori_tui.domain.events import Mode, Record
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.models import MakeModel
from tori_tui.trace.store import TraceStore


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a front end wants of one session, beside the configuration."""

    cwd: Path
    model: str | None = None
    mode: Mode | None = None
    trace_dir: Path | None = None
    """Where traces lie; None is `.trace` in the work tree."""
    resume: str | None = None
    """Id, prefix or path of a trace; empty is the newest; None opens a new one."""
    has_user: bool = False
    """Somebody can answer approvals and questions."""
    note_record: Callable[[Record], object] = lambda record: None
    """Called with each record of a trace that is resumed, in order."""
    check: str | None = None
    max_turns: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The world outside, handed in so that tests can choose it."""

    environ: Mapping[str, str]
    clock: Clock
    new_token: Callable[[], str]
    """Eight random hex digits."""
    make_model: MakeModel | None = None
    """In the place of the registry, for tests."""
    wrap_store: Callable[[TraceStore], TraceStore] = lambda store: store
    replay_delay_s: float = 0.0
    """Pause between the pieces of recorded replies."""
    gulp_s: float = 0.0
    """Least time between two reads of a fast answer, for a front end that draws now and then."""

    @property
    def state_dir(self) -> Path:
        """Where tori keeps what outlives a session."""
        return user_state_dir(self.environ)

    @property
    def config_dir(self) -> Path:
        """Where the user's own files lie."""
        return user_config_path(self.environ).parent


def real_surroundings(
    environ: Mapping[str, str], *, replay_delay_s: float = 0.0, gulp_s: float = 0.0
) -> Surroundings:
    """Return the machine's own clock and randomness."""

    def now() -> datetime:
        exact = datetime.now(UTC)
        return exact.replace(microsecond=exact.microsecond // 1000 * 1000)

    return Surroundings(
        environ=environ,
        clock=Clock(now, time.monotonic, asyncio.sleep, random.random),
        new_token=lambda: secrets.token_hex(4),
        replay_delay_s=replay_delay_s,
        gulp_s=gulp_s,
    )


__all__ = ["SessionOptions", "Surroundings", "real_surroundings"]
