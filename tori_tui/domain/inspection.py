"""What a request held, part by part: the values that the inspector shows.

Must not know how a request was built or how it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tori_tui.domain.events import TurnFinished
from tori_tui.domain.ids import Seq


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part of a request."""

    name: str
    """What it is: `rules`, `tools`, `plan`, `words`, `fold`, `turn`, `answer`, `note` …"""
    title: str
    """What is in it, in a line."""
    tokens: int
    rule: str
    """By which rule it is there, in this form."""
    seqs: tuple[Seq, ...] = ()
    """The records that it shows or stands for."""
    age_turns: int | None = None
    """How many requests showed it before this one; None for what has no age."""
    digest: str = ""
    """Equal for equal content."""
    is_cached: bool = False
    """Whether it and all before it stood in the request before, so that the provider may have it."""
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Lines of a part that an earlier part of the same request shows too."""

    part: str
    of_part: str
    n_lines: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was sent, and what came of it."""

    turn: TurnFinished
    at: datetime
    parts: tuple[SentPart, ...]
    repeats: tuple[Repeat, ...] = ()
    is_cold: bool = False
    """The request before was so long ago that the provider's cache had ended."""

    @property
    def tokens(self) -> int:
        """The estimate for the whole request."""
        return sum(part.tokens for part in self.parts)

    @property
    def cacheable_tokens(self) -> int:
        """What the provider's cache should have saved."""
        return sum(part.tokens for part in self.parts if part.is_cached)


@dataclass(frozen=True, slots=True)
class SentTotals:
    """All requests of a trace together."""

    n_turns: int
    input_tokens: int
    cached_tokens: int
    """As the provider reported."""
    cacheable_tokens: int
    """What its cache should have saved."""
    output_tokens: int
    cost_usd: float
    has_unpriced_turns: bool
    rewrites: tuple[tuple[int, str], ...]
    """The turns whose request did not extend the one before it, and why."""


@dataclass(frozen=True, slots=True)
class ContextPage:
    """What the app shows of the next request."""

    request: SentRequest | None
    """None before the first one."""
    totals: SentTotals
    """Of all that were sent."""
    window_tokens: int = 0
    cost_usd: float | None = None
    """Of the next request without its answer; None where the price is unknown."""


def common_prefix(parts: Sequence[SentPart], before: Sequence[SentPart]) -> int:
    """Return how many parts stand at the beginning of both."""
    pairs = zip(parts, before, strict=False)
    return next(
        (at for at, (part, earlier) in enumerate(pairs) if part.digest != earlier.digest),
        min(len(parts), len(before)),
    )


__all__ = ["ContextPage", "Repeat", "SentPart", "SentRequest", "SentTotals", "common_prefix"]
