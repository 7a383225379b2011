"""How a model call fails, the same for every provider.

Must not decide about retries; `retry` does, from the facts that stand here.
"""

from __future__ import annotations

from typing import Literal

from tori_tui.domain.errors import ToriError

ProviderFault = Literal[
    "connection",  # refused, reset, DNS, TLS
    "cut",  # the stream ended without its end marker
    "stalled",  # nothing came for the idle time-out
    "rate_limited",  # 429
    "overloaded",  # 529, 503 and their like
    "server",  # other 5xx, 408, 409
    "auth",  # 401, 403, no key
    "context_overflow",  # the request is larger than the window
    "late_system_refused",  # the server takes no system message after the history
    "bad_request",  # other 4xx
    "not_found",  # unknown model or address
    "garbled",  # HTML or other rubbish instead of a stream
    "billing",  # out of money or quota for good
]

RETRIABLE: frozenset[ProviderFault] = frozenset(
    {"connection", "cut", "stalled", "rate_limited", "overloaded", "server"}
)


class ProviderError(ToriError):
    """A model call failed.

    Args:
        message: What happened, with the provider's own words (never a key).
        hint: What to do.
        fault: The kind.
        status: HTTP status, if there was an answer.
        retry_after_s: The server's wish, if it named one.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        fault: ProviderFault,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.fault = fault
        self.status = status
        self.retry_after_s = retry_after_s

    @property
    def can_retry(self) -> bool:
        """Whether the same request may succeed later."""
        return self.fault in RETRIABLE


__all__ = ["RETRIABLE", "ProviderError", "ProviderFault"]
