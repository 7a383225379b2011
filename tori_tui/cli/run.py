"""`tori run`: one mission from its first word to its answer.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from tori_tui.cli import options


def run(
    mission: Annotated[
        str | None,
        typer.Argument(
            metavar="MISSION|-", help="What to do; - reads it from standard input.", show_default=False
        ),
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
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="TRACE", help="Go on in that trace; MISSION may be left out."),
    ] = None,
    cwd: options.Cwd = None,
) -> None:
    """Run one mission and print its answer.

    Standard input is read only for a MISSION of `-`. The answer goes to standard output, everything
    else to standard error.
    """
    # Imports make no garbage; looking for it takes a tenth of the time to the first request.
    gc.disable()
    from tori_tui.cli.one_shot import OneShot, run_one_shot

    arguments = OneShot(
        mission=mission,
        model=model,
        mode=mode,
        sandbox=sandbox,
        as_json=json,
        check=check,
        max_turns=max_turns,
        max_cost_usd=max_cost,
        max_seconds=max_seconds,
        trace_dir=trace_dir,
        resume=resume,
        cwd=cwd,
    )
    raise typer.Exit(run_one_shot(arguments))


__all__ = ["run"]
