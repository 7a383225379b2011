"""The app over a saved trace, opened for reading only.

Must not need a model, a key or the configuration, the theme excepted.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tori_tui.cli.app import check_terminal, drawn_sooner
from tori_tui.cli.terminal import EarlyTerminal, use_utf8
from tori_tui.cli.traces import trace_root
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.errors import TraceError

if TYPE_CHECKING:
    from textual.message import Message
    from textual.screen import Screen

    from tori_tui.domain.events import Record
    from tori_tui.domain.inspection import ContextPage
    from tori_tui.trace.tail import TraceTail
    from tori_tui.ui.themes import ThemeSpec

EPOCH: Final = datetime.fromtimestamp(0, UTC)

LOOK_EVERY_S: Final = 1.0
"""To ask for a file's size costs microseconds; what was read of it is a second old at most."""

FAULTS_TOLD: Final = 5
"""One by one; rubbish may be long."""


def replay_trace(trace: str, cwd: Path | None, trace_dir: Path | None) -> int:
    """Show a trace in the app and return the exit code.

    Raises:
        TraceError: There is no such trace, or it cannot be read.
        UsageError: This is no terminal for the app.
    """
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    check_terminal()
    use_utf8()
    with EarlyTerminal(os.environ) as terminal:
        gc.disable()
        with drawn_sooner():
            from tori_tui.cli.app_session import ended, make_app
        app = make_app(lambda: load_replay(directory), terminal)
        asyncio.run(app.run_async())
        return ended(app, None)


def load_replay(directory: Path) -> ReplayLaunch:
    """Read the records; runs in a thread.

    Raises:
        TraceError: The trace cannot be read, or has a newer format.
    """
    from tori_tui.trace.store import is_being_written
    from tori_tui.trace.tail import TraceTail

    tail = TraceTail(directory)
    tail.read()
    return ReplayLaunch(tail, is_being_written(directory))


def saved_records(directory: Path) -> tuple[Record, ...]:
    """Return the records of a trace, which may be open elsewhere.

    Raises:
        TraceError: It is not there, or has a newer format.
    """
    from tori_tui.trace.store import JsonlTraceStore

    with JsonlTraceStore.open(directory, read_only=True) as store:
        return tuple(store.records())


class ReplayLaunch:
    """A trace with the screen that shows it, read on while another process writes it."""

    def __init__(self, tail: TraceTail, is_written: bool) -> None:
        self._tail = tail
        self._is_written = is_written

    def make_screen(self, theme: ThemeSpec) -> Screen[None]:
        """Return the replay's screen."""
        from tori_tui.cli.file_port import file_port
        from tori_tui.ui.palette import palette_of
        from tori_tui.ui.screens.replay import ReplayScreen
        from tori_tui.ui.talk_ports import TalkPorts
        from tori_tui.workspace.git_head import find_work_tree

        screen = ReplayScreen(
            palette_of(theme),
            tuple(self._tail.records),
            clock=time.monotonic,
            note=damage_told(self._tail, is_written=self._is_written),
        )
        cwd = self._working_directory()
        screen.connect(TalkPorts(context=self._page, files=file_port(find_work_tree(cwd) or cwd, cwd)))
        return screen

    def _working_directory(self) -> Path:
        from tori_tui.domain.events import RunStatusChanged

        events = (record.event for record in self._tail.records)
        known = (event.cwd for event in events if isinstance(event, RunStatusChanged) and event.cwd)
        return Path(next(known, "."))

    def _page(self, before: int) -> ContextPage:
        """Return what the next request held at some moment; its cache is as it was then."""
        from tori_tui.cli.context_pages import page_of_records
        from tori_tui.cli.show_context import window_tokens

        records = [record for record in self._tail.records if record.seq < before]
        now = records[-1].at if records else EPOCH
        return page_of_records(records, self._tail.directory, window_tokens, now)

    async def serve(self, post: Callable[[Message], object]) -> None:
        """Look from time to time whether the session went on."""
        from tori_tui.ui.screens.replay import RecordsGrew

        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._tail.has_grown():
                try:
                    new = await asyncio.to_thread(self._tail.read)
                except TraceError:
                    return  # what was read is still shown
                if new:
                    post(RecordsGrew(tuple(self._tail.records)))

    async def close(self) -> None:
        """Nothing is open."""


def damage_told(tail: TraceTail, *, is_written: bool) -> str:
    """Return what of a trace could not be read, its sum on the first line; empty where all could."""
    faults = [f"Line {fault.line}: {fault.reason}." for fault in tail.faults]
    if tail.n_unfinished_bytes and not is_written:
        faults.append(f"The last {tail.n_unfinished_bytes:,} bytes are no whole record and left out.")
    if not faults:
        return ""
    head = "1 place in this trace is damaged" if len(faults) == 1 else f"{len(faults)} damaged places"
    shown = faults[:FAULTS_TOLD]
    more = len(faults) - len(shown)
    return "\n".join((head, *shown, *((f"and {more} more",) if more else ())))


__all__ = ["ReplayLaunch", "damage_told", "load_replay", "replay_trace", "saved_records"]
