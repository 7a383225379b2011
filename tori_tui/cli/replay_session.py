"""The app over a saved trace, opened for reading only.

Must not need a model, a key or the configuration, the theme excepted.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tori_tui.cli.app import check_terminal
from tori_tui.cli.terminal import EarlyTerminal, use_utf8
from tori_tui.cli.traces import trace_root
from tori_tui.trace.catalog import find_trace

if TYPE_CHECKING:
    from textual.message import Message
    from textual.screen import Screen

    from tori_tui.domain.events import Record
    from tori_tui.domain.inspection import ContextPage
    from tori_tui.ui.themes import ThemeSpec

EPOCH: Final = datetime.fromtimestamp(0, UTC)


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
    return ReplayLaunch(saved_records(directory), directory)


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

    def __init__(self, records: Sequence[Record], directory: Path) -> None:
        self._records = records
        self._directory = directory

    def make_screen(self, theme: ThemeSpec) -> Screen[None]:
        """Return the replay's screen."""
        from tori_tui.ui.palette import palette_of
        from tori_tui.ui.screens.replay import ReplayScreen
        from tori_tui.ui.talk_ports import TalkPorts

        screen = ReplayScreen(palette_of(theme), self._records, clock=time.monotonic)
        screen.connect(TalkPorts(context=self._page))
        return screen

    def _page(self, before: int) -> ContextPage:
        """Return what the next request held at some moment; its cache is as it was then."""
        from tori_tui.cli.context_pages import page_of_records
        from tori_tui.cli.show_context import window_tokens

        records = [record for record in self._records if record.seq < before]
        now = records[-1].at if records else EPOCH
        return page_of_records(records, self._directory, window_tokens, now)

    async def serve(self, post: Callable[[Message], object]) -> None:
        """Nothing comes from outside."""

    async def close(self) -> None:
        """Nothing is open."""


__all__ = ["ReplayLaunch", "load_replay", "replay_trace", "saved_records"]
