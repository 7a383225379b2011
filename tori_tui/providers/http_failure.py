"""What a failed HTTP exchange means: the same faults for every provider, in words for the user.

Pure: works on status, headers and text. Must not know an SDK, and never repeats a key.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from tori_tui.providers.errors import ProviderError, ProviderFault
from tori_tui.providers.json_values import mapping_of, text_of
from tori_tui.providers.surrogates import mend

EXCERPT_CHARS: Final = 400

_KEY: Final = re.compile(r"\b(sk|key|pk|gsk|xai)-[A-Za-z0-9*_-]{6,}|Bearer\s+\S+", re.IGNORECASE)

_OVERFLOW: Final = re.compile(
    r"context.?length.?exceeded|maximum context length|context window|prompt is too long|"
    r"exceed_context_size|available context size|too many tokens|input is too long|"
    r"exceeds? (the )?(model'?s )?(maximum )?context|context limit|reduce the length of|"
    r"max_prompt_tokens_exceeded|request_too_large|longer than the model'?s context",
    re.IGNORECASE,
)
"""How OpenAI, Anthropic, vLLM, llama.cpp, Ollama, LM Studio and gateways say it."""

_SYSTEM_PLACE: Final = re.compile(
    r"system[^.]{0,80}(role|begin|first|start|position|order|place|top-level|alternat|only|support|after)|"
    r"(role|roles|unexpected|invalid|only|multiple)[^.]{0,80}system|roles must alternate|jinja|"
    r"not supported in messages",
    re.IGNORECASE,
)
"""How APIs and chat templates refuse a system message that is not the first."""

_BILLING: Final = re.compile(
    r"insufficient_quota|insufficient (funds|balance|credit)|credit balance|billing|payment required|"
    r"exceeded your current quota",
    re.IGNORECASE,
)

_UNKNOWN_MODEL: Final = re.compile(
    r"model_not_found|model[^.]{0,80}(not found|does not exist|not exist|unknown|not available)|"
    r"(unknown|invalid|no such) model",
    re.IGNORECASE,
)

HINTS: Final[Mapping[ProviderFault, str]] = {
    "auth": "Check the key: tori doctor says where it comes from.",
    "billing": "Add credit or use another model: --model.",
    "context_overflow": "Fold the history (/compact) or use a model with a larger window.",
    "rate_limited": "Wait, or use another model: --model.",
    "overloaded": "The provider is overloaded: try again later, or use another model: --model.",
    "server": "The server failed: try again later; a local server says more in its own log.",
    "not_found": "Check the model's name and the base URL (it usually ends in /v1).",
    "garbled": "Check the base URL: it must be that of a model API (ending in /v1), not of a web page.",
    "late_system_refused": 'Set plan_placement = "leading" under [context].',
    "cut": "The server or the network broke off; nothing is lost, `tori resume` goes on.",
    "stalled": "Raise the idle time-out of the provider if the server is only slow.",
}


def failure_from_response(
    status: int, headers: Mapping[str, str], body: str, *, late_system: bool = False, secret: str = ""
) -> ProviderError:
    """Return the error for an answer that is no stream.

    Args:
        status: HTTP status.
        headers: With lower-case names.
        body: The answer's text; may be empty, HTML or cut.
        late_system: Whether the request had a late system message.
        secret: The key that was sent; taken out of the provider's words.
    """
    words = _words(body)
    fault = _fault_of(status, f"{words} {body[:4_000]}", late_system)
    said = redact(words, secret) or "the answer has no text"
    return ProviderError(
        f"The provider answered {status}: {said}",
        HINTS.get(fault, ""),
        fault=fault,
        status=status,
        retry_after_s=retry_after_s(headers),
    )


def failure_from_event(error: object, *, late_system: bool = False, secret: str = "") -> ProviderError:
    """Return the error for an `error` event inside a stream (its HTTP status was 200)."""
    data = mapping_of(error)
    words = text_of(data.get("message")) or (
        error if isinstance(error, str) else json.dumps(error)[:EXCERPT_CHARS]
    )
    kind = " ".join(str(data.get(name, "")) for name in ("type", "code", "status"))
    status = _status_of(kind)
    fault = _fault_of(status, f"{kind} {words}", late_system)
    return ProviderError(
        f"The provider reports an error in its stream: {redact(words, secret)}",
        HINTS.get(fault, ""),
        fault=fault,
        status=status,
    )


def failure_from_connection(
    cause: BaseException, base_url: str, *, proxy_variable: str = "", secret: str = ""
) -> ProviderError:
    """Return the error for an exchange that failed below HTTP.

    Args:
        cause: The SDK's or the HTTP layer's exception; the innermost one has the system's words.
        base_url: Where the request went.
        proxy_variable: The environment variable that names a proxy, if one is set.
        secret: The key that was sent.
    """
    words = redact(_chain(cause), secret)
    if re.search("certificate", words, re.IGNORECASE):
        hint = (
            "The server's certificate is not trusted. Behind a proxy that inspects TLS, name its CA file: "
            "SSL_CERT_FILE, or ca_file under [providers.NAME]."
        )
    elif proxy_variable:
        hint = f"{proxy_variable} is set: check that proxy, or name the host in NO_PROXY."
    elif re.search("refused|connect", words, re.IGNORECASE):
        hint = "Start the server, or check the base URL (OPENAI_BASE_URL, ANTHROPIC_BASE_URL)."
    else:
        hint = "Check the network and the base URL."
    return ProviderError(f"No connection to {base_url}: {words}", hint, fault="connection")


def cut(detail: str = "") -> ProviderError:
    """Return the error for a stream that ended without its end marker."""
    more = f" ({detail})" if detail else ""
    return ProviderError(
        f"The reply was cut: the stream ended without its end marker{more}.", HINTS["cut"], fault="cut"
    )


def stalled(idle_timeout_s: float) -> ProviderError:
    """Return the error for a server that has been silent too long."""
    return ProviderError(
        f"The server sent nothing for {idle_timeout_s:g} s.", HINTS["stalled"], fault="stalled"
    )


def garbled(excerpt: str) -> ProviderError:
    """Return the error for something that is no stream of events."""
    return ProviderError(
        f"The server sent no model reply but this: {redact(excerpt)[:EXCERPT_CHARS]!r}",
        HINTS["garbled"],
        fault="garbled",
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return how long the server asks to wait; a date counts from the answer's own `date`.

    Example:
        >>> retry_after_s({"retry-after": "3"}), retry_after_s({"retry-after-ms": "250"}), retry_after_s({})
        (3.0, 0.25, None)
    """
    try:
        if wish := headers.get("retry-after-ms"):
            return _bounded(float(wish) / 1000)
        wish = headers.get("retry-after", "")
        if re.fullmatch(r"\s*[0-9.]+\s*", wish):
            return _bounded(float(wish))
        if wish and "date" in headers:
            until = parsedate_to_datetime(wish) - parsedate_to_datetime(headers["date"])
            return _bounded(until.total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
    return None


def redact(words: str, secret: str = "") -> str:
    """Return the provider's words without keys and with lone surrogates mended."""
    if len(secret) >= 4:
        words = words.replace(secret, "…")
    return _KEY.sub("…", mend(words))


def _bounded(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _words(body: str) -> str:
    """Return the provider's message from a JSON body, or the start of another one."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return " ".join(body.split())[:EXCERPT_CHARS]
    error = mapping_of(data).get("error", data)
    for value in (
        error,
        mapping_of(error).get("message"),
        mapping_of(data).get("message"),
        mapping_of(data).get("detail"),
    ):
        if isinstance(value, str) and value.strip():
            return value[: 4 * EXCERPT_CHARS]
    return json.dumps(data)[:EXCERPT_CHARS]


def _fault_of(status: int | None, text: str, late_system: bool) -> ProviderFault:
    if status in (401, 403):
        return "auth"
    if status == 402 or (status in (None, 400, 429) and _BILLING.search(text)):
        return "billing"
    if status == 429:
        return "rate_limited"
    if status == 413 or _OVERFLOW.search(text):
        return "context_overflow"
    if late_system and status in (None, 400, 422, 500) and _SYSTEM_PLACE.search(text):
        return "late_system_refused"
    if status == 404 or (status in (400, 422) and _UNKNOWN_MODEL.search(text)):
        return "not_found"
    if status in (503, 529):
        return "overloaded"
    return "server" if status is None or status >= 500 or status in (408, 409) else "bad_request"


_STATUS_OF_KIND: Final[Mapping[str, int]] = {
    "overloaded": 529,
    "rate_limit": 429,
    "insufficient_quota": 402,
    "billing": 402,
    "authentication": 401,
    "permission": 403,
    "not_found": 404,
    "request_too_large": 413,
    "context_length_exceeded": 400,
    "invalid": 400,
    "timeout": 408,
    "api_error": 500,
    "server_error": 500,
}
"""What the kind of an error event would have been as a status."""


def _status_of(kind: str) -> int | None:
    if number := re.search(r"\b[45]\d\d\b", kind):
        return int(number[0])
    return next((status for word, status in _STATUS_OF_KIND.items() if word in kind.lower()), None)


def _chain(cause: BaseException) -> str:
    """Return the innermost words of a chain of exceptions, where the system's own reason stands."""
    words = ""
    seen: BaseException | None = cause
    while seen is not None:
        text = " ".join(str(seen).split())
        words = text if text and not text.startswith("Connection error") else words
        seen = seen.__cause__ or seen.__context__
    return words[:EXCERPT_CHARS] or type(cause).__name__


__all__ = [
    "HINTS",
    "cut",
    "failure_from_connection",
    "failure_from_event",
    "failure_from_response",
    "garbled",
    "redact",
    "retry_after_s",
    "stalled",
]
