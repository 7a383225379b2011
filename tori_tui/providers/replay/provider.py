"""`replay/PATH`: recorded replies in the place of a model, streamed like the real thing.

Must not look at the request: the n-th request gets the n-th reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tori_tui.domain.request import ModelRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import (
    CallDelta,
    Provider,
    StreamEvent,
    StreamFinished,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.replay.recording import RecordedReply, read_recording

PROVIDER: Final = "replay"

PIECE_CHARS: Final = 12
"""About three tokens, as models stream."""

CHARS_PER_TOKEN: Final = 4
"""For the token counts of replies that were recorded without."""


class ReplayProvider:
    """Plays a recording.

    Args:
        path: See `recording`.
        delay_s: Pause before each piece.

    Raises:
        UsageError: The recording cannot be read.
    """

    name = PROVIDER

    def __init__(self, path: Path, *, delay_s: float = 0.0) -> None:
        self._path = path
        self._delay_s = delay_s
        self._replies = read_recording(path)
        self._n_played = 0

    async def prepare(self) -> None:
        """See `Provider.prepare`."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Provider.stream`."""
        if self._n_played >= len(self._replies):
            raise ProviderError(
                f"The recording {str(self._path)!r} has no more replies than these {len(self._replies)}.",
                "Use a model (--model), or record more replies.",
                fault="not_found",
            )
        reply = self._replies[self._n_played]
        self._n_played += 1
        for event in _events(reply, request):
            await asyncio.sleep(self._delay_s)
            yield event

    async def close(self) -> None:
        """See `Provider.close`."""


def _events(reply: RecordedReply, request: ModelRequest) -> Iterator[StreamEvent]:
    yield from (ThinkingDelta(piece) for piece in _pieces(reply.thinking))
    yield from (TextDelta(piece) for piece in _pieces(reply.text))
    for number, call in enumerate(reply.calls):
        key = f"call{number}"
        yield CallDelta(key, None, call.name)
        yield from (CallDelta(key, arguments=piece) for piece in _pieces(call.arguments))
    yield UsageReported(reply.usage or _estimate(reply, request))
    yield StreamFinished("calls" if reply.calls else "end")


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))


def _estimate(reply: RecordedReply, request: ModelRequest) -> Usage:
    n_in = sum(len(block.text) for block in request.system) + len(request.late_system or "")
    n_in += sum(len(message.text) for message in request.messages)
    n_out = len(reply.text) + len(reply.thinking) + sum(len(call.arguments) for call in reply.calls)
    return Usage(n_in // CHARS_PER_TOKEN, n_out // CHARS_PER_TOKEN)


if TYPE_CHECKING:
    _: Provider = ReplayProvider(Path())

__all__ = ["ReplayProvider"]
