"""At which sizes a context is rewritten, by profile and window.

Must not look at a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from tori_tui.domain.request import ModelProfile

ProfileName = Literal["small", "economy", "balanced", "rich", "now", "never", "local"]

COLD_MARGIN_TOKENS: Final = 8_000
"""With a cold cache a rewrite is free, but it must still free something (DESIGN §7: 56k for 48k)."""

OUTPUT_RESERVE_TOKENS: Final = 32_000
WINDOW_SHARE: Final = 0.95
"""Of what the window leaves for input: the rest is for what was counted wrong."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Sizes in tokens of a whole request."""

    root: int
    """Rewritten from here when a root goal has just ended."""
    sub: int
    """The same for any other goal."""
    hard: int
    """Rewritten from here in any case."""
    low: int
    """What a rewrite leaves."""
    cold: int
    """Rewritten from here when the cache is cold anyway."""

    def scaled(self, factor: float) -> Marks:
        """Return the marks in another measure."""
        return Marks(*(int(factor * mark) for mark in (self.root, self.sub, self.hard, self.low, self.cold)))


_SMALL_BASE: Final = 128_000
_BASE: Final = 200_000

_MARKS: Final[Mapping[str, tuple[int, int, int, int]]] = MappingProxyType(
    {
        "small": (48_000, 80_000, 96_000, 24_000),
        "economy": (48_000, 128_000, 160_000, 32_000),
        "balanced": (64_000, 128_000, 160_000, 48_000),
        "rich": (96_000, 144_000, 160_000, 64_000),
        "now": (64_000, 128_000, 160_000, 48_000),
        "never": (160_000, 160_000, 160_000, 96_000),
        "local": (160_000, 160_000, 160_000, 64_000),
    }
)
"""Root, sub, hard and low at a window of 200k (`small`: 128k), from DESIGN §7."""

_CEILINGS: Final[Mapping[str, int]] = MappingProxyType({"balanced": 77_000})
"""Rewritten from here at the latest, whatever the window: measured on long sessions, 6 % cheaper than at
128k and 160k, and no more is forgotten."""


def input_limit(profile: ModelProfile, window_tokens: int) -> int:
    """Return the most a request may have, so that an answer has room."""
    reserve = min(profile.output_limit_tokens, OUTPUT_RESERVE_TOKENS, window_tokens // 4)
    return int(WINDOW_SHARE * (window_tokens - reserve))


def marks_for(profile_name: str, profile: ModelProfile, window_tokens: int) -> Marks:
    """Return the marks for a model whose window is known to be this large; scaled down, never up."""
    base = _SMALL_BASE if profile_name == "small" else _BASE
    scale = min(1.0, window_tokens / base)
    root, sub, hard, low = (int(mark * scale) for mark in _MARKS[profile_name])
    hard = min(hard, input_limit(profile, window_tokens), _CEILINGS.get(profile_name, hard))
    cold = hard if profile_name in ("never", "local") else low + int(COLD_MARGIN_TOKENS * scale)
    return Marks(min(root, hard), min(sub, hard), hard, min(low, int(0.6 * hard)), cold)


__all__ = ["Marks", "ProfileName", "input_limit", "marks_for"]
