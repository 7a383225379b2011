"""Where sessions go that the user deletes: a folder beside the traces, out of every list.

Must not delete anything for good; emptying the folder is the user's own act.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tori_tui.trace.errors import TraceError
from tori_tui.trace.store import JsonlTraceStore

TRASH_NAME: Final = ".trash"


def trash_trace(directory: Path) -> Path:
    """Move a trace to the trash beside it and return where it lies now.

    Raises:
        TraceError: It is open elsewhere, missing, or cannot be moved.
    """
    trash = directory.parent / TRASH_NAME
    with JsonlTraceStore.open(directory):  # so that nobody opens it meanwhile
        try:
            trash.mkdir(mode=0o700, exist_ok=True)
            return directory.rename(_free_place(trash / directory.name))
        except OSError as error:
            raise TraceError(f"{directory.name} cannot be moved to {trash}: {error}") from error


def restore_trace(trashed: Path) -> Path:
    """Move a trace from the trash to where it was and return that place.

    Raises:
        TraceError: Another one has taken its place, or it cannot be moved.
    """
    place = trashed.parent.parent / trashed.name
    if place.exists():
        raise TraceError(f"{place} is there already.", f"The deleted session still lies in {trashed}.")
    try:
        return trashed.rename(place)
    except OSError as error:
        raise TraceError(f"{trashed} cannot be moved back: {error}") from error


def _free_place(wanted: Path) -> Path:
    """Return a place where nothing is; a copied trace may have been deleted under the same id before."""
    place, number = wanted, 1
    while place.exists():
        number += 1
        place = wanted.with_name(f"{wanted.name}-{number}")
    return place


__all__ = ["TRASH_NAME", "restore_trace", "trash_trace"]
