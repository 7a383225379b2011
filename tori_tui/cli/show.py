"""`tori show`: a session as its plan.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def show(
    trace: Annotated[
        str | None,
        typer.Argument(metavar="TRACE", help="Id, its beginning, or path; the newest one if left out."),
    ] = None,
    unfold: Annotated[bool, typer.Option("--unfold", help="Show every step and what came of it.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the session as one JSON object.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Print a session as its plan, with finished work folded away."""
    from tori_tui.cli.show_trace import show_trace

    show_trace(trace or "", cwd, trace_dir, is_unfolded=unfold, as_json=json)


__all__ = ["show"]
