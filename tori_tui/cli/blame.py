"""`tori blame`: which goal wrote a line.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def blame(
    place: Annotated[
        str, typer.Argument(metavar="FILE:LINE", help="A line, or a file for all of its lines.")
    ],
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Name the goal that wrote a line, over every session of this project."""
    from tori_tui.cli.blame_lines import print_blame

    print_blame(place, cwd, trace_dir)


__all__ = ["blame"]
