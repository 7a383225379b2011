"""A trace opened to go back in it, without a model.

Must not begin a run.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tori_tui.cli.traces import trace_root
from tori_tui.config.surroundings import real_surroundings
from tori_tui.domain.ids import TraceId
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.rewinding import Rewinding
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.outputs import OUTPUTS_NAME
from tori_tui.trace.projections import Projections
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.git_head import find_work_tree


@asynccontextmanager
async def opened_rewinding(cwd: Path, trace_dir: Path | None, trace: str) -> AsyncIterator[Rewinding]:
    """Open a trace for writing; what was done in it is written down and it is closed at the end.

    Raises:
        TraceError: The trace is locked, missing, too new or cannot be written.
    """
    world = real_surroundings(os.environ)
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    trace_id = TraceId(directory.resolve().name)
    with JsonlTraceStore.open(directory) as store:
        state = store.load()
        recorder = Recorder(store, Bus(state), state, world.clock)
        checkpoints = Checkpoints.open(find_work_tree(cwd) or cwd, world.state_dir, world.environ)
        checkpointing = Checkpointing(recorder, trace_id, checkpoints)
        rewinding = Rewinding(recorder, checkpointing, trace_id, directory / OUTPUTS_NAME)
        await rewinding.recover()
        yield rewinding
        await checkpointing.close()
        await recorder.sync()
        Projections(directory, trace_id).write(recorder.state)


__all__ = ["opened_rewinding"]
