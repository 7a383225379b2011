"""The command `tori`: its subcommands, and how every failure ends.

Must not import anything heavy: `tori --help` loads typer and this package's command files only.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tori_tui import __version__
from tori_tui.cli import (
    app_command,
    blame,
    commit,
    context,
    demo,
    diff,
    doctor,
    list,
    replay,
    resume,
    rewind,
    run,
    show,
    streams,
)
from tori_tui.cli.exit_codes import USAGE
from tori_tui.cli.failures import exit_code_of

app = typer.Typer(
    name="tori",
    cls=app_command.AppFirst,
    help="A coding agent for the terminal whose backbone is a goal tree.",
    epilog="`tori demo` shows a whole session without any key.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("resume")(resume.resume)
app.command("list")(list.list_traces)
app.command("show")(show.show)
app.command("rewind")(rewind.rewind)
app.command("diff")(diff.diff)
app.command("commit")(commit.commit)
app.command("blame")(blame.blame)
app.command("context")(context.context)
app.command("demo")(demo.demo)
app.command("replay")(replay.replay)
app.command("doctor")(doctor.doctor)
app.command(app_command.OPEN, hidden=True)(app_command.open_app)


def _print_version(wanted: bool) -> None:
    if wanted:
        streams.write_out(f"tori {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
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


def main() -> None:
    """Run the command line and exit; whatever goes wrong is told in words, without a traceback."""
    streams.repair()
    sys.exit(exit_code_of(lambda: app(prog_name="tori")))


__all__ = ["app", "main"]
