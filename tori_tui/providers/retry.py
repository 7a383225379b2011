"""When a failed model call is sent again, by one policy for every provider.

Must not know a protocol, nor read a clock: sleeping and chance come in as arguments.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.domain.request import ModelProfile, ModelRequest, SystemBlock
from tori_tui.providers.base import CallDelta, Provider, StreamEvent, TextDelta, ThinkingDelta
from tori_tui.providers.errors import ProviderError, ProviderFault

BUSY: Final[frozenset[ProviderFault]] = frozenset({"rate_limited", "overloaded", "server"})
"""Faults at which another model may do better."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after what pause a request is sent again."""

    tries: int = 6
    connection_tries: int = 3
    """Where no connection comes about at all: a wrong address does not get right by waiting."""
    busy_tries: int = 3
    """With a busy model that has a fallback."""
    first_delay_s: float = 1.0
    longest_delay_s: float = 60.0
    longest_wish_s: float = 120.0
    """A server that asks for more is told to the user instead of slept out."""


DEFAULT_POLICY: Final = RetryPolicy()


@dataclass(frozen=True, slots=True)
class Retry:
    """A try failed and another follows."""

    attempt: int
    """Of the try that failed; the first is 1."""
    of_attempts: int
    delay_s: float
    reason: str
    had_output: bool
    """Whether events of the failed try were yielded; they do not count and should be discarded."""
    model: str
    """Name of the model that is asked next."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A model to use when those before it stay busy."""

    provider: Provider
    profile: ModelProfile


def delay_s(policy: RetryPolicy, attempt: int, error: ProviderError, chance: float) -> float | None:
    """Return the pause before the next try, or None if there is to be none.

    Args:
        policy: The limits.
        attempt: Of the try that failed; the first is 1.
        error: How it failed.
        chance: From 0 to 1; spreads clients that failed together.

    Example:
        >>> busy = ProviderError("busy", fault="overloaded")
        >>> [delay_s(DEFAULT_POLICY, attempt, busy, 1.0) for attempt in (1, 2, 5, 6)]
        [1.0, 2.0, 16.0, None]
    """
    if not error.can_retry or attempt >= _tries(policy, error):
        return None
    if error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= policy.longest_wish_s else None
    whole = min(policy.longest_delay_s, policy.first_delay_s * 2.0 ** (attempt - 1))
    return whole * (0.5 + 0.5 * chance)


async def stream_with_retry(
    provider: Provider,
    request: ModelRequest,
    *,
    sleep: Callable[[float], Awaitable[object]],
    random: Callable[[], float],
    on_retry: Callable[[Retry], None],
    policy: RetryPolicy = DEFAULT_POLICY,
    fallbacks: Sequence[Fallback] = (),
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events of a reply, sending the request again where that makes sense.

    After a `Retry` with `had_output` the reply begins anew: what was yielded before does not count.

    Args:
        provider: Asked first.
        request: Sent unchanged at each try; for a fallback with its profile.
        sleep: Cancelled when the caller is.
        random: From 0 to 1.
        on_retry: Told before each pause.
        policy: The limits.
        fallbacks: Asked in order when the model before stays busy.

    Raises:
        ProviderError: The last try failed, or the server asks for too long a pause.
    """
    waiting = list(fallbacks)
    attempt, n_failed = 0, 0
    while True:
        attempt, n_failed = attempt + 1, n_failed + 1
        had_output = False
        try:
            async with aclosing(provider.stream(request)) as events:
                async for event in events:
                    had_output = had_output or isinstance(event, TextDelta | ThinkingDelta | CallDelta)
                    yield event
            return
        except ProviderError as error:
            pause_s = delay_s(policy, n_failed, error, random())
            if waiting and error.fault in BUSY and (pause_s is None or n_failed >= policy.busy_tries):
                provider, request = _moved(request, waiting.pop(0))
                n_failed, pause_s = 0, 0.0
            if pause_s is None:
                raise _last(policy, error, n_failed) from error
            total = attempt - n_failed + _tries(policy, error)
            on_retry(Retry(attempt, total, pause_s, error.message, had_output, request.profile.name))
        await sleep(pause_s)


def _tries(policy: RetryPolicy, error: ProviderError) -> int:
    return policy.connection_tries if error.fault == "connection" else policy.tries


def _moved(request: ModelRequest, fallback: Fallback) -> tuple[Provider, ModelRequest]:
    """Return the request for another model; a late plan moves to the front where it must."""
    moved = replace(request, profile=fallback.profile)
    if request.late_system is not None and not fallback.profile.late_system:
        plan = SystemBlock("plan", request.late_system)
        moved = replace(moved, late_system=None, system=(*request.system, plan))
    return fallback.provider, moved


def _last(policy: RetryPolicy, error: ProviderError, n_failed: int) -> ProviderError:
    """Return the error for the user: with the number of tries, or with the pause that is too long."""
    wish_s = error.retry_after_s
    if error.can_retry and wish_s is not None and wish_s > policy.longest_wish_s:
        words = f"{error.message} The provider asks to wait {_duration(wish_s)}."
        hint = "tori does not wait that long: go on later (tori resume), or use another model (--model)."
        return ProviderError(words, hint, fault=error.fault, status=error.status, retry_after_s=wish_s)
    if n_failed > 1:
        words = f"{error.message} (after {n_failed} tries)"
        return ProviderError(words, error.hint, fault=error.fault, status=error.status, retry_after_s=wish_s)
    return error


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3_600
    return f"{hours:.1f} hours" if hours >= 1.5 else f"{minutes:.0f} minutes"


__all__ = ["DEFAULT_POLICY", "Fallback", "Retry", "RetryPolicy", "delay_s", "stream_with_retry"]
