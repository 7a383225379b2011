"""What a recogniser is: a sign that a tool has written an output, and which of its lines tell nothing.

Must not look at a command; the output alone says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recogniser:
    """Knows the output of one tool.

    Args:
        name: The tool.
        sign: Stands in the output of this tool and of no other; searched in the whole text.
        noise: Returns the indices of lines that say nothing of a failure and belong to no summary. A line
            that it does not know for certain stays.
    """

    name: str
    sign: re.Pattern[str]
    noise: Callable[[Sequence[str]], set[int]]


def matching(lines: Sequence[str], pattern: re.Pattern[str]) -> set[int]:
    """Return the indices of the lines that a pattern matches from their beginning."""
    return {at for at, line in enumerate(lines) if pattern.match(line)}


def blocks_from(lines: Sequence[str], start: re.Pattern[str], end: re.Pattern[str]) -> set[int]:
    """Return the indices from each line that begins a block up to before the line that ends it.

    A line that ends a block may begin the next one. A block without an end is left alone.
    """
    found: set[int] = set()
    first: int | None = None
    for at, line in enumerate(lines):
        if first is not None and end.match(line):
            found.update(range(first, at))
            first = None
        if first is None and start.match(line):
            first = at
    return found


__all__ = ["Recogniser", "blocks_from", "matching"]
