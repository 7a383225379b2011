"""From an open HTTP answer to the events of a reply, with one time-out for every kind of silence.

Must not know a protocol; the decoder does. The response is any object with `aiter_raw`-like bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, Protocol

from tori_tui.providers.base import StreamEvent
from tori_tui.providers.http_failure import cut, garbled, stalled
from tori_tui.providers.sse import SseDecoder, SseEvent

ENDING_GRACE_S: Final = 5.0
"""How long token counts may lag behind a finished reply on a connection that stays open."""

KEEPALIVE_FACTOR: Final = 5
"""Comments alone keep a stream alive for so many idle time-outs (gateways queue requests so)."""


class EventDecoder(Protocol):
    """What each protocol brings: events of one stream from its server-sent events."""

    is_finished: bool

    @property
    def is_ending(self) -> bool:
        """Whether the reply is whole and only token counts or the end marker may follow."""
        ...

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        """Return what one server-sent event says."""
        ...

    def end_of_stream(self) -> list[StreamEvent]:
        """Return the last events after the connection closed; empty if the reply was cut."""
        ...


async def decode_stream(
    chunks: AsyncIterator[bytes], decoder: EventDecoder, idle_timeout_s: float
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events of a reply as its bytes arrive; stops at the end marker.

    Raises:
        ProviderError: cut, stalled, garbled, or what the decoder found.
    """
    sse = SseDecoder()
    loop = asyncio.get_running_loop()
    last_event_s = loop.time()
    while not decoder.is_finished:
        limit_s = min(ENDING_GRACE_S, idle_timeout_s) if decoder.is_ending else idle_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                chunk = await anext(chunks, None)
        except TimeoutError:
            if not decoder.is_ending:
                raise stalled(idle_timeout_s) from None
            chunk = None
        server_events = sse.finish() if chunk is None else sse.feed(chunk)
        if server_events:
            last_event_s = loop.time()
        for server_event in server_events:
            for event in decoder.feed(server_event):
                yield event
            if decoder.is_finished:
                return
        if chunk is None:
            for event in _last_events(sse, decoder):
                yield event
            return
        if loop.time() - last_event_s > KEEPALIVE_FACTOR * idle_timeout_s:
            raise stalled(KEEPALIVE_FACTOR * idle_timeout_s)


def _last_events(sse: SseDecoder, decoder: EventDecoder) -> list[StreamEvent]:
    events = decoder.end_of_stream()
    if not decoder.is_finished:
        raise garbled(sse.excerpt) if sse.is_foreign else cut()
    return events


__all__ = ["ENDING_GRACE_S", "EventDecoder", "decode_stream"]
