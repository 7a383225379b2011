"""`tori list`: the traces of this project.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def list_traces(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Only sessions with all of these words.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one trace a line as JSON.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """List the sessions of this project, newest first."""
    from tori_tui.cli.trace_list import print_list

    print_list(cwd, trace_dir, words=" ".join(words or ()), as_json=json)


__all__ = ["list_traces"]
