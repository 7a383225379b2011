"""What a turn and a run come to.

Must not judge; `ending` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from tori_tui.domain.events import RunCause, RunStatus
from tori_tui.domain.ids import Seq
from tori_tui.providers.base import StopReason


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn came to."""

    text: str
    n_calls: int
    stop_reason: StopReason
    message_seq: Seq
    abort_reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    status: RunStatus
    reason: str = ""
    cause: RunCause = ""


__all__ = ["RunEnd", "TurnEnd"]
