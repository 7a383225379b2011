"""Options that several commands share, declared once.

Must not do anything with them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

ModeName = Literal["plan", "ask", "edit", "auto"]

Model = Annotated[str | None, typer.Option("--model", metavar="M", help="PROVIDER/NAME of the model.")]
ModeOption = Annotated[
    ModeName | None,
    typer.Option(
        "--mode", help="What runs without a question: nothing that changes, ask, edits, everything."
    ),
]
Sandbox = Annotated[
    bool,
    typer.Option(
        "--sandbox", help="Confine commands to the work tree, without network; refuse if that cannot be."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one event a line on standard output.")]
Check = Annotated[
    str | None,
    typer.Option("--check", metavar="CMD", help="A command that must exit 0 for the mission to be done."),
]
MaxTurns = Annotated[
    int | None, typer.Option("--max-turns", metavar="N", min=1, help="Stop after that many model requests.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="Stop at that cost; needs a model of known price."),
]
MaxSeconds = Annotated[
    float | None, typer.Option("--max-seconds", metavar="S", min=0, help="Stop after that time.")
]
TraceName = Annotated[
    str | None,
    typer.Argument(metavar="TRACE", help="Id, its beginning, or path; the newest one if left out."),
]
TraceDir = Annotated[
    Path | None,
    typer.Option("--trace-dir", metavar="DIR", help="Keep traces there instead of .trace in the work tree."),
]
Cwd = Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="Work there instead of here.")]

__all__ = [
    "Check",
    "Cwd",
    "Json",
    "MaxCost",
    "MaxSeconds",
    "MaxTurns",
    "ModeName",
    "ModeOption",
    "Model",
    "TraceDir",
    "TraceName",
]
