"""Choosing a session in the app: when it has to be, and the list to choose from.

Must not import the list or a trace before they are needed: the first frame waits for this module.
"""

from __future__ import annotations

import os

from textual.screen import Screen

from tori_tui.cli.app import AppOptions
from tori_tui.ui.messages import ChoiceNeeded
from tori_tui.ui.themes import ThemeSpec


def refuse_ambiguous(options: AppOptions, name: str) -> None:
    """Let the user choose where a name or an id's beginning fits several sessions.

    Raises:
        ChoiceNeeded: It does.
    """
    from tori_tui.cli.traces import trace_root
    from tori_tui.trace.catalog import find_trace
    from tori_tui.trace.errors import TraceAmbiguous, TraceMissing

    try:
        find_trace(trace_root(options.directory, options.trace_dir), name)
    except TraceAmbiguous as ambiguous:
        raise ChoiceNeeded(name) from ambiguous
    except TraceMissing:
        return  # told when the session is opened


def choice_screen(options: AppOptions, theme: ThemeSpec, words: str, is_busy: bool) -> Screen[str | None]:
    """Return the list of this project's sessions."""
    from tori_tui.cli.fork_end import fork_at_end
    from tori_tui.cli.traces import trace_root
    from tori_tui.config.surroundings import real_surroundings
    from tori_tui.trace.catalog import list_traces
    from tori_tui.trace.naming import rename_trace
    from tori_tui.trace.store import is_being_written
    from tori_tui.trace.trash import restore_trace, trash_trace
    from tori_tui.ui.palette import palette_of
    from tori_tui.ui.screens.sessions import SessionsPort, SessionsScreen

    now = real_surroundings(os.environ).clock.now
    root = trace_root(options.directory, options.trace_dir)
    port = SessionsPort(
        entries=lambda: list_traces(root),
        rename=lambda directory, name: rename_trace(directory, name, now()),
        is_open=is_being_written,
        now=now,
        fork=lambda directory: fork_at_end(directory, options.directory),
        trash=trash_trace,
        restore=restore_trace,
    )
    return SessionsScreen(palette_of(theme), port, words=words, is_busy=is_busy)


__all__ = ["choice_screen", "refuse_ambiguous"]
