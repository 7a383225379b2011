"""`tori context`: what was sent to the model, section by section.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def context(
    trace: Annotated[
        str | None,
        typer.Argument(metavar="TRACE", help="Id, its beginning, or path; the newest one if left out."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="The turn; the last one if left out.")
    ] = None,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option("--diff", metavar="M N", help="What changed from one turn's request to another's."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print it as one JSON object.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Print what a request held: tokens, age, cache, records, and the rule behind each section."""
    from tori_tui.cli.show_context import show_context

    show_context(trace or "", cwd, trace_dir, turn=turn, diff=diff, as_json=json)


__all__ = ["context"]
