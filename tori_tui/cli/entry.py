"""The program's beginning: straight to the app where nothing else is asked for, else the command line.

Must not import typer on the way to the app: that alone takes as long as a fifth of the first frame.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.commands import COMMANDS, COMPLETION_VARIABLE
from tori_tui.cli.failures import exit_code_of

REPLAY: Final = "replay"


def main() -> None:
    """Run `tori` and exit."""
    is_completing = COMPLETION_VARIABLE in os.environ
    screen = _app_asked_for(sys.argv[1:]) if streams.can_show_app() and not is_completing else None
    if screen is None:
        from tori_tui.cli.main import main as command_line

        command_line()
        return
    streams.repair()
    sys.exit(exit_code_of(lambda: sys.exit(screen())))


def _app_asked_for(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return what shows the app, if the arguments ask for nothing else."""
    directory = app_directory(arguments)
    if directory is not None:
        from tori_tui.cli.app import start_app

        return lambda: start_app(directory)
    trace = replayed_trace(arguments)
    if trace is not None:
        from tori_tui.cli.replay_session import replay_trace

        return lambda: replay_trace(trace, None, None)
    return None


def replayed_trace(arguments: Sequence[str]) -> str | None:
    """Return the trace that is to be replayed, empty for the newest, if that is asked for without options."""
    if arguments[:1] != [REPLAY] or len(arguments) > 2 or any(a.startswith("-") for a in arguments):
        return None
    return arguments[1] if len(arguments) == 2 else ""


def app_directory(arguments: Sequence[str]) -> Path | None:
    """Return where the app is to open, if the arguments ask for it and for nothing else."""
    if not arguments:
        return Path()
    if len(arguments) == 1 and arguments[0] not in COMMANDS and os.path.isdir(arguments[0]):
        return Path(arguments[0])
    return None


__all__ = ["app_directory", "main", "replayed_trace"]
