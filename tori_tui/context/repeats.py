"""Lines that a request shows more than once.

Must not look for anything but equal lines in equal order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.inspection import Repeat, SentPart

WINDOW_LINES: Final = 8
"""Shorter runs of equal lines are ordinary: brackets, imports, headings."""

MIN_TOKENS: Final = 40


def find_repeats(parts: Sequence[SentPart]) -> tuple[Repeat, ...]:
    """Return which parts show again what an earlier part shows, the largest first."""
    first_seen: dict[tuple[str, ...], str] = {}
    found: list[Repeat] = []
    for part in parts:
        lines = part.text.split("\n")
        bare = tuple(line.strip() for line in lines)
        windows = [bare[at : at + WINDOW_LINES] for at in range(len(lines) - WINDOW_LINES + 1)]
        repeated = [at for at, window in enumerate(windows) if window in first_seen and any(window)]
        if repeated:
            covered = sorted({line for at in repeated for line in range(at, at + WINDOW_LINES)})
            tokens = estimate_tokens("\n".join(lines[at] for at in covered))
            if tokens >= MIN_TOKENS:
                found.append(Repeat(label(part), first_seen[windows[repeated[0]]], len(covered), tokens))
        name = label(part)
        for window in windows:
            first_seen.setdefault(window, name)
    return tuple(sorted(found, key=lambda repeat: -repeat.tokens))


def label(part: SentPart) -> str:
    """Return how a part is named in a sentence."""
    return f"#{part.seqs[0]}" if part.seqs else part.name


__all__ = ["find_repeats", "label"]
