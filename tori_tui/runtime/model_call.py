"""One model request, answered: what streams goes to the screen, what is whole comes back.

Must not record anything; the turn does, with what stands here when a stream was cut or cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import assert_never

from tori_tui.domain.events import CallStreamed, RequestStarted, TextStreamed, ThinkingStreamed
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import (
    CallDelta,
    Provider,
    ProviderPartReceived,
    StreamEvent,
    StreamFinished,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tori_tui.providers.fold import Reply, ReplyFold
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.recorder import Recorder


class ModelCall:
    """One request and what has come of it so far."""

    def __init__(
        self,
        request: ModelRequest,
        recorder: Recorder,
        clock: Clock,
        used_ids: Container[str],
        new_id: Callable[[], str],
    ) -> None:
        self._request = request
        self._recorder = recorder
        self._clock = clock
        self._used_ids = used_ids
        self._new_id = new_id
        self._fold = ReplyFold(used_ids, new_id)
        self._thinking: list[str] = []
        self._began_s = clock.monotonic()
        self._first_s: float | None = None
        self.n_tries = 1
        """How often the request was sent."""

    @property
    def text(self) -> str:
        """The answer so far; of a call that was cut, all that may be kept."""
        return self._fold.text

    @property
    def thinking(self) -> str:
        """What the model thought aloud so far."""
        return "".join(self._thinking)

    @property
    def usage(self) -> Usage | None:
        """The newest token counts, None where the server reported none."""
        return self._fold.usage

    @property
    def latency_s(self) -> float:
        """From the request to the first piece of the answer."""
        return (self._first_s or self._clock.monotonic()) - self._began_s

    @property
    def duration_s(self) -> float:
        """From the request until now."""
        return self._clock.monotonic() - self._began_s

    async def run(self, provider: Provider, turn: int, context_tokens: int) -> Reply:
        """Send the request and return the whole reply.

        Raises:
            ProviderError: No whole reply came.
        """
        request = self._request
        started = RequestStarted(request.context, turn, request.profile.name, context_tokens)
        self._recorder.announce(started)
        async for event in provider.stream(request):
            if self._first_s is None:
                self._first_s = self._clock.monotonic()
            self._fold.add(event)
            self._show(event)
        return self._fold.reply()

    def _show(self, event: StreamEvent) -> None:
        context = self._request.context
        match event:
            case TextDelta():
                self._recorder.announce(TextStreamed(context, event.text))
            case ThinkingDelta():
                self._thinking.append(event.text)
                self._recorder.announce(ThinkingStreamed(context, event.text))
            case CallDelta():
                self._recorder.announce(CallStreamed(context, event.key, event.name, event.arguments))
            case ProviderPartReceived() | UsageReported() | StreamFinished():
                pass
            case _:
                assert_never(event)


__all__ = ["ModelCall"]
