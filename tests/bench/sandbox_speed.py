"""What a sandbox adds to one command, from the call on to its end, as the tool runs it.

A record that it begins is on the disk before it does; a sandbox makes its world meanwhile, or has it ready
when a moment has passed since the command before, as between two replies of a model. Both are measured.
Must not compare runs that were made at different times: free and confined ones take turns.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tori_tui.domain.events import CallStarted, ProcessRef
from tori_tui.domain.ids import CallId
from tori_tui.domain.state import SessionState
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.recorder import Recorder
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.processes import run_command
from tori_tui.workspace.sandbox.choice import Backend, open_sandbox
from tori_tui.workspace.sandbox.confinement import UNCONFINED, Sandbox, SandboxRefused, SandboxTerms
from tori_tui.workspace.shell_ahead import ShellAhead
from tori_tui.workspace.waiting_shell import ShellTerms

N_COMMANDS: Final = 60
BAR_MS: Final = 8.0

PAUSE_S: Final = 0.3
"""Less than any model takes for a reply."""


def measure() -> list[Figure]:
    """Return the time that each backend adds to a command; one that this machine has not is left out."""
    backends: tuple[Backend, ...] = ("bubblewrap", "landlock")
    return [figure for backend in backends if (figure := _added(backend)) is not None]


@dataclass(frozen=True)
class _Times:
    free: list[float] = field(default_factory=list)
    confined: list[float] = field(default_factory=list)
    at_once: list[float] = field(default_factory=list)
    """Those with nothing ready, as right after another command."""

    def added_ms(self, confined: list[float]) -> list[float]:
        """Compare each with the free one beside it: both saw the same machine."""
        return [(long - short) * 1e3 for short, long in zip(self.free, confined, strict=True)]


def _added(backend: Backend) -> Figure | None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        (root / ".git" / "hooks").mkdir(parents=True)
        (root / ".git" / "config").touch()
        try:
            sandbox = open_sandbox(SandboxTerms(root, dict(os.environ)), backend)
        except SandboxRefused:
            return None
        try:
            times = asyncio.run(_times(root, sandbox))
        finally:
            sandbox.close()
    added_ms = times.added_ms(times.confined)
    at_once = statistics.median(times.added_ms(times.at_once))
    quick = statistics.quantiles(added_ms, n=10)[0]
    note = f"quickest tenth {quick:.1f} ms; right after another command {at_once:.1f} ms"
    return Figure(f"a command in {sandbox.name}, added", statistics.median(added_ms), "ms", BAR_MS, note)


async def _times(root: Path, sandbox: Sandbox) -> _Times:
    descendants = Descendants()
    ahead = ShellAhead(sandbox, descendants)
    times = _Times()
    with JsonlTraceStore.open(root / ".trace" / "bench") as store:
        recorder = Recorder(store, Bus(SessionState()), SessionState(), _clock())
        for _ in range(N_COMMANDS):
            times.free.append(await _time(root, None, descendants, recorder))
            times.at_once.append(await _time(root, sandbox, descendants, recorder, ahead))
            await asyncio.sleep(PAUSE_S)
            times.confined.append(await _time(root, sandbox, descendants, recorder, ahead))
            await ahead.close()
            ahead = ShellAhead(sandbox, descendants)
    return times


def _clock() -> Clock:
    return Clock(lambda: datetime.now(UTC), time.monotonic, asyncio.sleep, lambda: 0.5)


async def _time(
    root: Path,
    sandbox: Sandbox | None,
    descendants: Descendants,
    recorder: Recorder,
    ahead: ShellAhead | None = None,
) -> float:
    async def started(process: ProcessRef) -> None:
        await recorder.record(CallStarted(CallId("bench"), "bash", process))
        await recorder.sync()

    with CommandOutput.open(root.parent / "output.log") as output:
        began_s = time.perf_counter()
        await run_command(
            "true",
            ShellTerms(root, dict(os.environ), sandbox.confine(root) if sandbox is not None else UNCONFINED),
            call_id="bench",
            output=output,
            timeout_s=30,
            descendants=descendants,
            on_started=started,
            ahead=ahead,
        )
        return time.perf_counter() - began_s


__all__ = ["measure"]
