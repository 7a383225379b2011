"""What a provider is: one request in, a stream of events out.

Must not know a vendor's types; each vendor has a folder of its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ProviderPart
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.usage import Usage

StopReason = Literal["end", "calls", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More answer text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking, for the screen."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """More of one tool call. Deltas with the same key belong together, in order."""

    key: str
    """Given by the adapter; unique in the reply, whatever the server does with indexes and ids."""
    id: CallId | None = None
    """The server's id, in the first delta that has one; None or empty where it has none."""
    name: str = ""
    arguments: str = ""
    """A piece of JSON text."""


@dataclass(frozen=True, slots=True)
class ProviderPartReceived:
    """Something to hand back verbatim with this reply."""

    part: ProviderPart


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Token counts; a later one of the same reply replaces it."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class StreamFinished:
    """The server's own end marker came. A stream without it is an error, not an answer."""

    stop_reason: StopReason


StreamEvent = TextDelta | ThinkingDelta | CallDelta | ProviderPartReceived | UsageReported | StreamFinished


class Provider(Protocol):
    """One wire protocol at one address."""

    @property
    def name(self) -> str:
        """The part before the slash of a model name: `openai-chat`."""
        ...

    async def prepare(self) -> None:
        """Load what the first request needs (an SDK), beside other work. May be left out."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send the request and yield what comes, in order; the last event is `StreamFinished`.

        Nothing is retried here. Cancelling or `aclose` closes the connection.

        Raises:
            ProviderError: The request or the stream failed; says whether another try makes sense.
        """
        ...

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        ...


__all__ = [
    "CallDelta",
    "Provider",
    "ProviderPartReceived",
    "StopReason",
    "StreamEvent",
    "StreamFinished",
    "TextDelta",
    "ThinkingDelta",
    "UsageReported",
]
