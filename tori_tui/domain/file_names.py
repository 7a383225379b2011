"""The names of a work tree's files, as they are offered while the user writes.

Must not hold what is in the files.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileNames:
    """What a look at a folder found."""

    paths: tuple[str, ...] = ()
    """Relative to the folder, with `/`; all of them can be shown as they are."""
    is_complete: bool = True
    """False where there are more than a look takes in."""
    fault: str = ""
    """Why nothing could be seen; empty where it could."""


__all__ = ["FileNames"]
