"""Where the traces of a directory lie, as the command line asks for them.

Must not read a trace.
"""

from __future__ import annotations

from pathlib import Path

from tori_tui.domain.errors import UsageError
from tori_tui.trace.catalog import trace_root_for


def working_directory(wanted: Path | None) -> Path:
    """Return the directory to work in.

    Raises:
        UsageError: It is not there.
    """
    try:
        cwd = (wanted or Path()).resolve(strict=True)
    except OSError as error:
        raise UsageError(f"{wanted or 'The working directory'} is not there: {error.strerror}.") from error
    if not cwd.is_dir():
        raise UsageError(f"{cwd} is no directory.")
    return cwd


def trace_root(cwd: Path | None, trace_dir: Path | None) -> Path:
    """Return the folder of traces that two options mean.

    Raises:
        UsageError: The working directory is not there.
    """
    if trace_dir is not None:
        return trace_dir
    root, _ = trace_root_for(working_directory(cwd))
    return root


__all__ = ["trace_root", "working_directory"]
