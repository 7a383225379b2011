"""Opens the trace of a session, new or old.

Must not remove what was there before.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from tori_tui.bootstrap.ground import Opened
from tori_tui.config.surroundings import SessionOptions, Surroundings
from tori_tui.domain.events import CallStarted, Record
from tori_tui.domain.ids import TraceId
from tori_tui.trace.catalog import find_trace, new_trace_id, trace_root_for
from tori_tui.trace.errors import TraceError
from tori_tui.trace.lines import told_faults
from tori_tui.trace.store import BRANCHES_NAME, JsonlTraceStore, forget_if_empty

LEFT_OVER_COMMANDS: Final = 50
"""The newest commands of a killed session that may still run; background jobs among them."""


def open_trace(options: SessionOptions, world: Surroundings) -> Opened:
    """Open the trace of a new session, or the one to go on with.

    Raises:
        TraceError: It is locked, missing, too new, empty, or cannot be written.
    """
    root, is_fallback = (options.trace_dir, False) if options.trace_dir else trace_root_for(options.cwd)
    notices: list[str] = []
    if options.resume is None:
        directory = root / new_trace_id(world.clock.now(), world.new_token())
    else:
        directory = find_trace(root, options.resume)
    if is_fallback:
        notices.append(f"No trace can be written in the work tree, so it lies in {directory}.")
    store = JsonlTraceStore.open(directory)
    commands: deque[CallStarted] = deque(maxlen=LEFT_OVER_COMMANDS)

    def note(record: Record) -> None:
        _note_command(record, commands)
        options.note_record(record)

    try:
        state = store.load(note)
        notices += [f"Trace, {told}" for told in told_faults(store.faults)]
        if options.resume is not None and state.created_at is None:
            raise TraceError(
                f"The session {directory.name} holds no record that can be read.",
                f"What is left of it lies in {directory}.",
            )
    except BaseException:
        store.close()
        raise
    return Opened(TraceId(directory.name), directory, store, state, tuple(commands), tuple(notices))


def _note_command(record: Record, commands: deque[CallStarted]) -> None:
    if isinstance(record.event, CallStarted) and record.event.process is not None:
        commands.append(record.event)


def commands_of_branches(opened: Opened) -> tuple[CallStarted, ...]:
    """Return what a kill may have left running of branches: each has a trace of its own."""
    commands: deque[CallStarted] = deque(maxlen=LEFT_OVER_COMMANDS)
    for branch in opened.state.branches.values():
        if branch.end is not None or not branch.trace:
            continue
        with (
            suppress(TraceError),  # it was killed before it had one
            JsonlTraceStore.open(opened.directory / BRANCHES_NAME / branch.trace, read_only=True) as store,
        ):
            for record in store.records():
                _note_command(record, commands)
    return tuple(commands)


def forget_if_unused(options: SessionOptions, directory: Path) -> None:
    """Remove a new session in which nothing happened; what was there before is never ours to remove."""
    if options.resume is None:
        forget_if_empty(directory)


__all__ = ["commands_of_branches", "forget_if_unused", "open_trace"]
