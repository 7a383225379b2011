"""A provider that says what the test wrote down, in process.

Must not be cleverer than its script; use `tests.wire` where bytes matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ProviderPart
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import (
    CallDelta,
    Provider,
    ProviderPartReceived,
    StopReason,
    StreamEvent,
    StreamFinished,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)

SOME_USAGE = Usage(100, 10)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call; `arguments` is JSON text, `id` may be empty."""

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One reply, streamed in pieces; `delay_s` waits before each event."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    thinking: str = ""
    usage: Usage | None = SOME_USAGE
    stop_reason: StopReason | None = None
    provider_parts: tuple[ProviderPart, ...] = ()
    delay_s: float = 0.0
    piece_chars: int = 8


@dataclass(frozen=True, slots=True)
class CutReply:
    """The first events of a reply, then an error."""

    reply: ScriptedReply
    n_events: int
    error: Exception


Turn = ScriptedReply | CutReply | Exception
Script = Turn | Callable[[ModelRequest], Turn]


class ScriptedProvider:
    """Gives one turn a request; raises `AssertionError` when there are more requests than turns."""

    name = "scripted"

    def __init__(self, turns: Sequence[Script]) -> None:
        self._turns = tuple(turns)
        self.requests: list[ModelRequest] = []
        """Every request so far, in order."""
        self.is_closed = False

    async def prepare(self) -> None:
        """See `Provider.prepare`."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Provider.stream`."""
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._turns):
            raise AssertionError(f"request {number}, but the script has {len(self._turns)} turns")
        scripted = self._turns[number - 1]
        turn = scripted(request) if callable(scripted) else scripted
        if isinstance(turn, Exception):
            raise turn
        reply = turn.reply if isinstance(turn, CutReply) else turn
        for position, event in enumerate(events_of(reply)):
            if isinstance(turn, CutReply) and position == turn.n_events:
                raise turn.error
            await asyncio.sleep(reply.delay_s)
            yield event
        if isinstance(turn, CutReply):
            raise turn.error

    async def close(self) -> None:
        """See `Provider.close`."""
        self.is_closed = True


def events_of(reply: ScriptedReply) -> list[StreamEvent]:
    """Return the events of a whole reply."""
    size = reply.piece_chars
    events: list[StreamEvent] = [ThinkingDelta(piece) for piece in _pieces(reply.thinking, size)]
    events += [ProviderPartReceived(part) for part in reply.provider_parts]
    events += [TextDelta(piece) for piece in _pieces(reply.text, size)]
    for number, call in enumerate(reply.calls):
        key = f"call{number}"
        events.append(CallDelta(key, CallId(call.id) if call.id else None, call.name))
        events += [CallDelta(key, arguments=piece) for piece in _pieces(call.arguments, size)]
    if reply.usage is not None:
        events.append(UsageReported(reply.usage))
    events.append(StreamFinished(reply.stop_reason or ("calls" if reply.calls else "end")))
    return events


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


if TYPE_CHECKING:
    _: Provider = ScriptedProvider(())

__all__ = ["CutReply", "Script", "ScriptedCall", "ScriptedProvider", "ScriptedReply", "Turn", "events_of"]
