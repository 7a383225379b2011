"""The program's beginning: straight to the app where nothing else is asked for, else the command line.

Must not import typer on the way to the app: that alone takes as long as a fifth of the first frame.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tori_tui.cli import streams
from tori_tui.cli.commands import COMMANDS
from tori_tui.cli.failures import exit_code_of


def main() -> None:
    """Run `tori` and exit."""
    directory = app_directory(sys.argv[1:])
    if directory is None or not streams.can_show_app():
        from tori_tui.cli.main import main as command_line

        command_line()
        return
    streams.repair()
    from tori_tui.cli.app import start_app

    sys.exit(exit_code_of(lambda: sys.exit(start_app(directory))))


def app_directory(arguments: Sequence[str]) -> Path | None:
    """Return where the app is to open, if the arguments ask for it and for nothing else."""
    if not arguments:
        return Path()
    if len(arguments) == 1 and arguments[0] not in COMMANDS and os.path.isdir(arguments[0]):
        return Path(arguments[0])
    return None


__all__ = ["app_directory", "main"]
