"""`tori replay`: a saved session in the app, without a model.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def replay(
    trace: Annotated[
        str | None,
        typer.Argument(metavar="TRACE", help="Id, its beginning, or path; the newest one if left out."),
    ] = None,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Look at a saved session step by step; nothing is changed and no model is called."""
    from tori_tui.cli.replay_session import replay_trace

    raise typer.Exit(replay_trace(trace or "", cwd, trace_dir))


__all__ = ["replay"]
