"""What every part of one session stands on.

Must not make anything; `open_session` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tori_tui.bootstrap.project_memory import ProjectMemory
from tori_tui.config import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import CallStarted
from tori_tui.domain.ids import TraceId
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.going_back import GoingBack
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.models import LoadedModels
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.running_branches import RunningBranches
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore

if TYPE_CHECKING:
    from tori_tui.context.system_prompt import SystemParts
    from tori_tui.domain.request import ToolSpec
    from tori_tui.runtime.asking import Decider
    from tori_tui.runtime.gate import Gate
    from tori_tui.runtime.requests import InheritedPrefix, RequestBuilder
    from tori_tui.runtime.spending import Spending
    from tori_tui.workspace.descendants import Descendants
    from tori_tui.workspace.sandbox.confinement import Sandbox


@dataclass(frozen=True, slots=True)
class BranchTerms:
    """What the session of a branch takes from the one that explores, in the place of its own."""

    root: Path
    """Its work tree: the other one's, or a copy of it."""
    copy_of: Path | None
    readable: tuple[Path, ...]
    models: LoadedModels
    memory: ProjectMemory
    descendants: Descendants
    gate: Gate
    decider: Decider
    tools: tuple[ToolSpec, ...]
    system: SystemParts | None
    """Of the inherited view; None where the branch has a background."""
    prefix: InheritedPrefix | None


@dataclass(frozen=True, slots=True)
class RunnerParts:
    """What is made after the ground and is asked by branches."""

    requests: RequestBuilder
    spending: Spending


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
    going_back: GoingBack
    meter: TokenMeter
    memory: ProjectMemory
    """The project's, opened when it is first used."""
    identities: Identities
    branches: RunningBranches
    terms: BranchTerms | None = None
    """Of the session of a branch."""
    sandbox: Sandbox | None = None
    """Where one is asked for, commands run in it."""

    @property
    def sandbox_told(self) -> str:
        """The name of the sandbox, a colon, and what it holds; empty where there is none."""
        return f"{self.sandbox.name}: {self.sandbox.holds}" if self.sandbox is not None else ""


__all__ = ["BranchTerms", "Ground", "Opened", "RunnerParts"]
