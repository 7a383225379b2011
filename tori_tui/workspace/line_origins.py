"""Who wrote each line of a text that several have changed one after the other.

Pure. Must not know where the versions come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

T = TypeVar("T")


def line_origins(versions: Iterable[tuple[T, Sequence[str]]]) -> list[T]:
    """Return for each line of the last version whose it is.

    Whoever brings a whole version back, by a rewind or by hand, has written none of its lines.

    Args:
        versions: From the oldest on: who made it, and its lines.
    """
    lines: Sequence[str] = ()
    origins: list[T] = []
    known: dict[tuple[str, ...], list[T]] = {}
    for author, after in versions:
        matcher = SequenceMatcher(None, lines, after, autojunk=False)
        kept: list[T] = []
        for tag, first, end, new_first, new_end in matcher.get_opcodes():
            kept += origins[first:end] if tag == "equal" else [author] * (new_end - new_first)
        lines, origins = after, known.setdefault(tuple(after), kept)
    return origins


__all__ = ["line_origins"]
