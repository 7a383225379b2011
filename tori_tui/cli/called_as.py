"""Commands for the user to type, as they work where he stands.

Must not run anything.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tori_tui.cli.traces import trace_root
from tori_tui.trace.catalog import TRACES_NAME

NAME: Final = "tori"


def program(called: str, environ: Mapping[str, str], *, is_absolute: bool = False) -> str:
    """Return how this program is called: by its name where that leads to it, else by its path.

    Args:
        called: As it was this time; `sys.argv[0]`.
        environ: With the search path.
        is_absolute: Called from another directory.
    """
    path = Path(called)
    found = shutil.which(NAME, path=environ.get("PATH", ""))
    if found is not None and path.exists() and Path(found).samefile(path):
        return NAME
    if path.name != NAME or not path.exists():
        # `python -m tori_tui`, or the tests: there is no other word for it.
        return f"{shlex.quote(sys.executable)} -m tori_tui"
    return shlex.quote(str(path.absolute()) if is_absolute else called)


def resume_command(directory: Path) -> str:
    """Return a command that goes on with a session."""
    if directory.parent.resolve() == trace_root(None, None).resolve():
        return f"{program(sys.argv[0], os.environ)} resume {directory.name}"
    if directory.parent.name == TRACES_NAME:
        tori = program(sys.argv[0], os.environ, is_absolute=True)
        return f"cd {shlex.quote(str(directory.parent.parent))} && {tori} resume {directory.name}"
    return f"{program(sys.argv[0], os.environ)} resume {shlex.quote(str(directory))}"


def demo_left(directory: Path) -> str:
    """Say what is left of a demo, and what can be done with it."""
    tori, trace = program(sys.argv[0], os.environ), shlex.quote(str(directory))
    project = shlex.quote(str(directory.parent.parent))
    return (
        f"The session: {directory}\n"
        f"Watch it again: {tori} replay {trace}\n"
        f"See every step: {tori} show --unfold {trace}\n"
        f"See the change: git -C {project} diff\n"
        f"Remove it all: rm -rf {project}\n"
    )


__all__ = ["demo_left", "program", "resume_command"]
