"""What the app may ask about files and saved trees, as functions that are handed in.

Must not do any of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file that is there."""

    path: str
    """From the root of the disk, links resolved."""
    shown: str
    """As it was named."""
    is_inside: bool
    """It lies in the work tree."""


@dataclass(frozen=True, slots=True)
class FilePort:
    """Each has an answer that knows nothing. All are called in a thread."""

    find: Callable[[str], FoundFile | None] = lambda _: None
    """The file that a name means."""
    read: Callable[[str], str] = lambda _: ""
    """The text of a file, or its beginning. Raises `ToriError`."""
    count_changes: Callable[[Sequence[tuple[str, str]]], Sequence[int]] = lambda _: ()
    """How many files differ between saved trees, for each pair; nothing where that cannot be said."""
    tree_diff: Callable[[str, str], str] = lambda _, __: ""
    """What differs between two saved trees, as a unified diff. Raises `ToriError`."""


__all__ = ["FilePort", "FoundFile"]
