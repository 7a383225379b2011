"""`tori [PATH]`: the app, from the bare terminal to the exit code.

Must not import typer, nor anything heavy before the terminal has been taken over.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.folder_question import ask_about_folder
from tori_tui.cli.terminal import EarlyTerminal, is_dumb, use_utf8
from tori_tui.domain.errors import UsageError

_FRAME_RATE: Final = "TEXTUAL_FPS"


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the command line asked for."""

    directory: Path
    model: str | None = None
    mode: str | None = None
    trace_dir: Path | None = None
    resume: str | None = None
    """Id, prefix or path of a trace; empty is the newest; None opens a new one."""
    is_demo: bool = False
    sandbox: bool = False
    base_url: str = ""
    """A server that the user chose for this run, where none was configured."""


def start_app(
    directory: Path,
    *,
    model: str | None = None,
    mode: str | None = None,
    trace_dir: Path | None = None,
    resume: str | None = None,
    sandbox: bool = False,
) -> int:
    """Open the app and return the exit code.

    Raises:
        UsageError: The terminal or the configuration does not allow it.
    """
    return run(AppOptions(directory, model, mode, trace_dir, resume, sandbox=sandbox))


def play_demo_in_app() -> int:
    """Play the demo in the app and return the exit code."""
    return run(AppOptions(Path(), is_demo=True))


def run(options: AppOptions) -> int:
    """Take the terminal, then load and run the app."""
    check_terminal()
    use_utf8()
    if not options.is_demo:
        ask_about_folder(options.directory)
    with EarlyTerminal(os.environ) as terminal:
        # Loading makes many objects and no rubbish; the app turns the collector on again.
        gc.disable()
        with drawn_sooner():
            from tori_tui.cli.app_session import run_app
        return run_app(options, terminal)


@contextmanager
def drawn_sooner() -> Iterator[None]:
    """Quarter the time for which Textual, imported meanwhile, waits before it draws.

    What streams is drawn at most 20 times a second anyway, so that this costs nothing.
    """
    os.environ[_FRAME_RATE] = "240"
    try:
        yield
    finally:
        os.environ.pop(_FRAME_RATE, None)


def check_terminal() -> None:
    """Refuse where no screen can be drawn.

    Raises:
        UsageError: There is no terminal, or it cannot move its cursor.
    """
    if not streams.can_show_app():
        raise UsageError(
            "The app needs a terminal, and this is none.", "Without one: tori run MISSION, or tori --help"
        )
    if is_dumb(os.environ):
        raise UsageError(
            "The app cannot draw on this terminal (TERM=dumb).", "Set TERM, or use: tori run MISSION"
        )


__all__ = ["AppOptions", "check_terminal", "play_demo_in_app", "run", "start_app"]
