"""Hard limits of a run: turns, tokens, money, time.

Must not stop anything; it says what is over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tori_tui.domain.state import SessionState

LimitName = Literal["turns", "tokens", "cost_usd", "seconds"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take; None is no limit."""

    turns: int | None = 200
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None

    def raised(self, name: LimitName) -> Limits:
        """Return the limits with one doubled, after the user allowed it."""
        match name:
            case "turns":
                return replace(self, turns=(self.turns or 0) * 2)
            case "tokens":
                return replace(self, tokens=(self.tokens or 0) * 2)
            case "cost_usd":
                return replace(self, cost_usd=(self.cost_usd or 0.0) * 2)
            case "seconds":
                return replace(self, seconds=(self.seconds or 0.0) * 2)


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit and what was spent."""

    name: LimitName
    text: str
    """For example `200 of 200 turns`."""


@dataclass(frozen=True, slots=True)
class RunStart:
    """The counters when the run began, so that a run pays only for itself."""

    turns: int
    tokens: int
    cost_usd: float
    monotonic_s: float


def run_start(state: SessionState, monotonic_s: float) -> RunStart:
    """Take the counters as they stand."""
    return RunStart(state.n_turns, state.usage.total_tokens, state.cost_usd, monotonic_s)


def limit_reached(
    limits: Limits, start: RunStart, state: SessionState, monotonic_s: float
) -> LimitReached | None:
    """Return the first limit that the run has used up, or None."""
    turns = state.n_turns - start.turns
    if limits.turns is not None and turns >= limits.turns:
        return LimitReached("turns", f"{turns} of {limits.turns} turns")
    tokens = state.usage.total_tokens - start.tokens
    if limits.tokens is not None and tokens >= limits.tokens:
        return LimitReached("tokens", f"{tokens:,} of {limits.tokens:,} tokens")
    spent = state.cost_usd - start.cost_usd
    if limits.cost_usd is not None and spent >= limits.cost_usd:
        return LimitReached("cost_usd", f"${spent:.2f} of ${limits.cost_usd:.2f}")
    seconds = monotonic_s - start.monotonic_s
    if limits.seconds is not None and seconds >= limits.seconds:
        return LimitReached("seconds", f"{seconds:.0f} of {limits.seconds:.0f} seconds")
    return None


__all__ = ["LimitName", "LimitReached", "Limits", "RunStart", "limit_reached", "run_start"]
