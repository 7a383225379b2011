"""`tori resume`: go on where a session stopped.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

import typer

from tori_tui.cli import options, streams
from tori_tui.domain.errors import UsageError


def resume(
    trace: Annotated[
        str | None,
        typer.Argument(metavar="TRACE", help="Id, its beginning, or path; the newest one if left out."),
    ] = None,
    fork: Annotated[
        str | None,
        typer.Option("--fork", metavar="G", help="Begin a new session at that goal, or at turn:N."),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option("--copy", metavar="DIR", help="With --fork: put the files there, and work there."),
    ] = None,
    model: options.Model = None,
    mode: options.ModeOption = None,
    sandbox: options.Sandbox = False,
    json: options.Json = False,
    check: options.Check = None,
    max_turns: options.MaxTurns = None,
    max_cost: options.MaxCost = None,
    max_seconds: options.MaxSeconds = None,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Go on with a session where it stopped, whatever stopped it."""
    if fork is not None or copy is not None:
        trace, cwd, trace_dir = _forked(trace or "", fork, copy, cwd, trace_dir)
    is_plain = json or check or max_turns or max_cost is not None or max_seconds is not None
    if not is_plain and streams.can_show_app():
        from tori_tui.cli.app import start_app

        raise typer.Exit(
            start_app(
                cwd or Path(),
                model=model,
                mode=mode,
                sandbox=sandbox,
                trace_dir=trace_dir,
                resume=trace or "",
            )
        )
    # Imports make no garbage; looking for it takes a tenth of the time to the first request.
    gc.disable()
    from tori_tui.cli.one_shot import OneShot, run_one_shot

    arguments = OneShot(
        mission=None,
        model=model,
        mode=mode,
        sandbox=sandbox,
        as_json=json,
        check=check,
        max_turns=max_turns,
        max_cost_usd=max_cost,
        max_seconds=max_seconds,
        trace_dir=trace_dir,
        resume=trace or "",
        cwd=cwd,
    )
    raise typer.Exit(run_one_shot(arguments))


def _forked(
    trace: str, goal: str | None, copy: Path | None, cwd: Path | None, trace_dir: Path | None
) -> tuple[str, Path, Path]:
    """Begin a new session at a goal; return its trace, where to work, and where traces lie."""
    from tori_tui.cli.fork import fork

    if goal is None:
        raise UsageError("--copy goes with --fork.")
    forked = fork(trace, goal, copy, cwd, trace_dir)
    return str(forked.trace), forked.cwd, forked.trace.parent


__all__ = ["resume"]
