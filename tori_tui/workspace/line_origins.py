"""Who wrote each line of a text that several have changed one after the other.

Pure. Must not know where the versions come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

T = TypeVar("T")


def line_origins(versions: Iterable[tuple[T, Sequence[str], bool]]) -> list[T]:
    """Return for each line of the last version whose it is.

    Args:
        versions: From the oldest on: who made it, its lines, and whether they were written there.
            Who only brings a whole version back, by a rewind or by hand, wrote none of its lines.
    """
    lines: Sequence[str] = ()
    origins: list[T] = []
    known: dict[tuple[str, ...], list[T]] = {}
    for author, after, is_written in versions:
        matcher = SequenceMatcher(None, lines, after, autojunk=False)
        kept: list[T] = []
        for tag, first, end, new_first, new_end in matcher.get_opcodes():
            kept += origins[first:end] if tag == "equal" else [author] * (new_end - new_first)
        text = tuple(after)
        if is_written or text not in known:
            known[text] = kept
        lines, origins = after, known[text]
    return origins


__all__ = ["line_origins"]
