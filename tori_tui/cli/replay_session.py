"""The app over a saved trace, opened for reading only.

Must not need a model, a key or the configuration, the theme excepted.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tori_tui.cli.app import check_terminal
from tori_tui.cli.terminal import EarlyTerminal, use_utf8
from tori_tui.cli.traces import trace_root
from tori_tui.trace.catalog import find_trace

if TYPE_CHECKING:
    from textual.message import Message
    from textual.screen import Screen

    from tori_tui.domain.events import Record
    from tori_tui.ui.themes import ThemeSpec


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
        from tori_tui.cli.app_session import ended, make_app

        app = make_app(lambda: load_replay(directory), terminal)
        asyncio.run(app.run_async())
        return ended(app, None)


def load_replay(directory: Path) -> ReplayLaunch:
    """Read the records; runs in a thread."""
    return ReplayLaunch(saved_records(directory))


def saved_records(directory: Path) -> tuple[Record, ...]:
    """Return the records of a trace, which may be open elsewhere.

    Raises:
        TraceError: It is not there, or has a newer format.
    """
    from tori_tui.trace.store import JsonlTraceStore

    with JsonlTraceStore.open(directory, read_only=True) as store:
        return tuple(store.records())


class ReplayLaunch:
    """Records with the screen that shows them."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def make_screen(self, theme: ThemeSpec) -> Screen[None]:
        """Return the replay's screen."""
        from tori_tui.ui.palette import palette_of
        from tori_tui.ui.screens.replay import ReplayScreen

        return ReplayScreen(palette_of(theme), self._records, clock=time.monotonic)

    async def serve(self, post: Callable[[Message], object]) -> None:
        """Nothing comes from outside."""

    async def close(self) -> None:
        """Nothing is open."""


__all__ = ["ReplayLaunch", "load_replay", "replay_trace", "saved_records"]
