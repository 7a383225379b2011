"""Lines that a search found, as the engines hand them over.

Must not know which engine found them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PREVIEW_LIMIT_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class LineQuery:
    """What lines to look for."""

    regex: str
    ignore_case: bool = False
    context_lines: int = 0


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line that matches, or one around it."""

    path: str
    """Relative to where the search began."""
    number: int
    text: str
    """At most `PREVIEW_LIMIT_CHARS` of it around the match, and how much is left out."""
    is_match: bool = True


def preview(line: str, start: int = 0, end: int = 0, limit_chars: int = PREVIEW_LIMIT_CHARS) -> str:
    """Return a line, or the part of a long one around a match, saying how much is left out."""
    if len(line) <= limit_chars:
        return line
    spare = max(0, limit_chars - (end - start)) // 2
    first = max(0, min(start - spare, len(line) - limit_chars))
    last = first + limit_chars
    before = f"[{first:,} more]…" if first else ""
    after = f"…[{len(line) - last:,} more]" if last < len(line) else ""
    return f"{before}{line[first:last]}{after}"


__all__ = ["PREVIEW_LIMIT_CHARS", "FoundLine", "LineQuery", "preview"]
