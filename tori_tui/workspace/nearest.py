"""The place in a file that is most like a text which is not in it, shown so that the difference can be seen.

Must not change anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.workspace.likeness import similarity

LIKENESS_LIMIT: Final = 0.6
"""Below this the nearest text is another text; by trial on edits that models got wrong."""
COMPARED_LIMIT_CHARS: Final = 400
N_CANDIDATES: Final = 20
SHOWN_LIMIT_LINES: Final = 20
SHOWN_LIMIT_CHARS: Final = 200

_BLANKS: Final = re.compile(r"^[ \t]+|[ \t]+$|\t+| {2,}|[\r\xa0]+")


@dataclass(frozen=True, slots=True)
class Nearest:
    """Lines of a file, by the index of the first."""

    first: int
    lines: tuple[str, ...]


def nearest_lines(lines: Sequence[str], wanted: Sequence[str]) -> Nearest | None:
    """Return the lines most like the wanted ones; None if nothing is much like them."""
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    text = wanted[anchor].strip()[:COMPARED_LIMIT_CHARS]
    if not text:
        return None
    likeness = (
        (similarity(text, line.strip()[:COMPARED_LIMIT_CHARS], 0.4), index)
        for index, line in enumerate(lines)
    )
    candidates = sorted(
        (found for found in likeness if found[0] > 0), key=lambda found: (-found[0], found[1])
    )
    whole = "\n".join(wanted)
    best: tuple[float, int] = (0.0, 0)
    for _, index in candidates[:N_CANDIDATES]:
        first = max(0, index - anchor)
        window = "\n".join(lines[first : first + len(wanted)])
        best = max(best, (similarity(whole, window), -first))
    score, first = best[0], -best[1]
    if score < LIKENESS_LIMIT:
        return None
    return Nearest(first, tuple(lines[first : first + len(wanted)]))


def visible(line: str) -> str:
    """Return a line with the blanks shown that are easily taken for others: `·` a space, `→` a tab."""
    return _BLANKS.sub(_marks, line[:SHOWN_LIMIT_CHARS]) + ("…" if len(line) > SHOWN_LIMIT_CHARS else "")


def _marks(blanks: re.Match[str]) -> str:
    return blanks[0].translate({32: "·", 9: "→", 13: "␍", 160: "⍽"})


def numbered(nearest: Nearest) -> str:
    """Return the lines with their numbers and visible blanks, the first ones if there are many."""
    shown = nearest.lines[:SHOWN_LIMIT_LINES]
    rows = [f"{nearest.first + offset + 1}\t{visible(line)}" for offset, line in enumerate(shown)]
    left = len(nearest.lines) - len(shown)
    return "\n".join([*rows, f"… {left} more lines"] if left else rows)


__all__ = ["Nearest", "nearest_lines", "numbered", "visible"]
