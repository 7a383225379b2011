"""The command `tori`: its subcommands, and how every failure ends.

Must not import anything heavy: `tori --help` loads typer and this package's command files only.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tori_tui import __version__
from tori_tui.cli import demo, list, resume, run, show, streams
from tori_tui.cli.exit_codes import FAILED, INTERRUPTED, USAGE
from tori_tui.domain.errors import ToriError, UsageError

app = typer.Typer(
    name="tori",
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
app.command("demo")(demo.demo)


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
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        app(prog_name="tori")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except ToriError as error:
        streams.write_err(f"tori: {_safe(error)}\n")
        return _code_of(error)
    except Exception:
        streams.write_err(_fault())
        return FAILED
    finally:
        streams.flush()
    return 0


def _safe(error: ToriError) -> str:
    from tori_tui.render.safe_text import safe_text

    return safe_text(str(error))


def _fault() -> str:
    import traceback

    from tori_tui.render.safe_text import safe_text

    return f"{safe_text(traceback.format_exc())}tori: this is a fault of tori itself; please report it.\n"


def _code_of(error: ToriError) -> int:
    from tori_tui.trace.errors import TraceMissing

    # To name a trace that is not there is wrong usage too.
    return USAGE if isinstance(error, (UsageError, TraceMissing)) else FAILED


__all__ = ["app", "main"]
