"""What every part of one session stands on.

Must not make anything; `open_session` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tori_tui.config import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import CallStarted
from tori_tui.domain.ids import TraceId
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.models import LoadedModels
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.rewinding import Rewinding
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore


@dataclass(frozen=True, slots=True)
class Opened:
    """An open trace with what it holds so far."""

    trace_id: TraceId
    directory: Path
    store: JsonlTraceStore
    state: SessionState
    commands: tuple[CallStarted, ...]
    """The newest commands that were run, which a kill may have left running."""
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """The parts that the first request and its reply both need."""

    settings: Settings
    options: SessionOptions
    world: Surroundings
    opened: Opened
    root: Path
    bus: Bus
    recorder: Recorder
    asking: Asking
    outputs: Outputs
    models: LoadedModels
    rewinding: Rewinding
    meter: TokenMeter


__all__ = ["Ground", "Opened"]
