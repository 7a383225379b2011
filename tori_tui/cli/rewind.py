"""`tori rewind`: go back to a goal or a turn, messages, files or both.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def rewind(
    trace: options.TraceName = None,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="G", help="Back to where it was begun.")
    ] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Back to before that turn.")] = None,
    files: Annotated[bool, typer.Option("--files", help="Take back the files only.")] = False,
    messages: Annotated[bool, typer.Option("--messages", help="Take back plan and messages only.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the newest rewind.")] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Redo what was undone.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Go back to a goal or a turn; what you changed yourself since stays, and it can be undone."""
    from tori_tui.cli.rewind_trace import Wanted, rewind_trace
    from tori_tui.domain.errors import UsageError

    if undo and redo:
        raise UsageError("--undo and --redo exclude each other.", "Ask for one.")
    # Both or neither is the whole.
    wanted = Wanted(
        goal=goal,
        turn=turn,
        files=files or not messages,
        messages=messages or not files,
        how="undo" if undo else "redo" if redo else "rewind",
    )
    rewind_trace(trace or "", wanted, cwd, trace_dir, is_dry=dry_run)


__all__ = ["rewind"]
