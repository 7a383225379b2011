"""`tori export`: a session as a page to share.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tori_tui.cli import options


def export(
    trace: options.TraceName = None,
    html: Annotated[
        bool, typer.Option("--html", help="One page with plan, conversation, diffs and search.")
    ] = False,
    md: Annotated[bool, typer.Option("--md", help="The same as Markdown.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="A picture of what `tori show` prints.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write there instead of to standard output; its name says the form.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Write a session as a page that needs nothing but itself."""
    from tori_tui.cli.export_trace import export_trace, wanted_form

    form = wanted_form({"html": html, "md": md, "svg": svg}, output)
    export_trace(trace or "", form, cwd, trace_dir, output, is_forced=force)


__all__ = ["export"]
