"""The command `tori`: its subcommands, and how every failure ends.

Must not import anything heavy: `tori --help` loads typer and this package's command files only.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, MutableMapping, Sequence
from importlib import import_module
from typing import Annotated

import typer

from tori_tui import __version__
from tori_tui.cli import app_command, streams
from tori_tui.cli.commands import COMMANDS, COMPLETION_VARIABLE, OPEN
from tori_tui.cli.exit_codes import INTERRUPTED, USAGE
from tori_tui.cli.failures import exit_code_of


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the program with some of its commands; building each takes a millisecond or more."""
    app = typer.Typer(
        name="tori",
        cls=app_command.AppFirst,
        help="A coding agent for the terminal whose backbone is a goal tree.",
        epilog="`tori demo` shows a whole session without any key.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_without_command)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"tori_tui.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, hidden=name == OPEN)(command)
    return app


def main() -> None:
    """Run the command line and exit; whatever goes wrong is told in words, without a traceback."""
    streams.repair()
    _take_either_order(os.environ)
    app = make_app(_asked_for(sys.argv[1:]))
    try:
        code = exit_code_of(lambda: app(prog_name="tori"))
        # All is written; the interpreter, which takes its handlers away before it is done, would die of it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        # It came while the end of the command was turned into a code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = INTERRUPTED
    sys.exit(code)


def _asked_for(arguments: Sequence[str]) -> Iterable[str]:
    """Return the one command that is called, or all of them for the help and for what is mistyped."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def _take_either_order(environ: MutableMapping[str, str]) -> None:
    """Take `bash_source`, as most programs call it, for typer's `source_bash`."""
    shell, _, asked = environ.get(COMPLETION_VARIABLE, "").partition("_")
    if asked in ("source", "complete"):
        environ[COMPLETION_VARIABLE] = f"{asked}_{shell}"


def _print_version(wanted: bool) -> None:
    if wanted:
        streams.write_out(f"tori {__version__}\n")
        raise typer.Exit


def _without_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        streams.write_err(context.get_help() + "\n")
        raise typer.Exit(USAGE)


__all__ = ["main", "make_app"]
