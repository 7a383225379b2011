"""Finds the word that somebody may have meant.

Must not be used to do what nobody wrote: it is for hints.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

CUTOFF: Final = 0.6
"""Less alike is another word (difflib's own default)."""

N_LOOKED_AT: Final = 3


def likest(word: str, known: Iterable[str], cutoff: float = CUTOFF) -> str:
    """Return the known word that is most like this one; empty where none is like it.

    Of words about as like, one with the same letters goes first: two that changed places make a word less
    alike than one that is left out.
    """
    near = difflib.get_close_matches(word, list(known), N_LOOKED_AT, cutoff)
    return min(near, key=lambda candidate: sorted(candidate) != sorted(word), default="")


__all__ = ["likest"]
