"""`tori diff`: what the agent changed, in a session or for one goal.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def diff(
    trace: options.TraceName = None,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="G", help="Only that goal and what is below it.")
    ] = None,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Print what the agent changed, your own changes left out."""
    from tori_tui.cli.diff_trace import print_diff

    print_diff(trace or "", goal, cwd, trace_dir)


__all__ = ["diff"]
