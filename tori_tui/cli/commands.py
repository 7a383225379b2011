"""Every command of `tori` with the place where it is written.

Must not import any of them: a start loads the one that is called, and `tori --help` all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OPEN: Final = "open"
"""Hidden: what `tori [PATH]` means when it comes with options."""

COMPLETION_VARIABLE: Final = "_TORI_COMPLETE"
"""Set by a shell that asks what may be typed next."""

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "run": "run:run",
        "resume": "resume:resume",
        "list": "list:list_traces",
        "show": "show:show",
        "rewind": "rewind:rewind",
        "diff": "diff:diff",
        "commit": "commit:commit",
        "blame": "blame:blame",
        "context": "context:context",
        "demo": "demo:demo",
        "replay": "replay:replay",
        "export": "export:export",
        "memory": "memory:memory",
        "doctor": "doctor:doctor",
        OPEN: "app_command:open_app",
    }
)
"""Module below this package, and its function or typer group; in the order of the help.

A folder of such a name is reached as `./NAME`."""

__all__ = ["COMMANDS", "COMPLETION_VARIABLE", "OPEN"]
