"""One model request, answered: what streams goes to the screen, what is whole comes back.

Must not record anything; the turn does, with what stands here when a stream was cut or cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import aclosing
from typing import assert_never

from tori_tui.domain.events import (
    CallStreamed,
    ReplyDiscarded,
    RequestStarted,
    RetryScheduled,
    TextStreamed,
    ThinkingStreamed,
)
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
from tori_tui.providers.retry import Fallback, Retry, stream_with_retry
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
        *,
        shows_text: bool = True,
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
        self.shows_text = shows_text
        """Whether its text is for the user; a reply in JSON is not."""
        self.n_tries = 1
        """How often the request was sent."""
        self.profile = request.profile
        """Of the model that answers: a fallback's, where those before it stayed busy."""
        self._profiles = {request.profile.name: request.profile}

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

    async def run(
        self, provider: Provider, turn: int, context_tokens: int, fallbacks: Sequence[Fallback] = ()
    ) -> Reply:
        """Send the request, again where that makes sense, and return the whole reply.

        Raises:
            ProviderError: No whole reply came.
        """
        request = self._request
        self._profiles |= {fallback.profile.name: fallback.profile for fallback in fallbacks}
        started = RequestStarted(request.context, turn, request.profile.name, context_tokens)
        self._recorder.announce(started)
        events = stream_with_retry(
            provider,
            request,
            sleep=self._clock.sleep,
            random=self._clock.random,
            on_retry=self._retrying,
            fallbacks=fallbacks,
        )
        async with aclosing(events) as stream:
            async for event in stream:
                if self._first_s is None:
                    self._first_s = self._clock.monotonic()
                self._fold.add(event)
                self._show(event)
        return self._fold.reply()

    def _retrying(self, retry: Retry) -> None:
        """Begin the reply anew: what came of the failed try does not count."""
        context = self._request.context
        if retry.had_output:
            self._recorder.announce(ReplyDiscarded(context, retry.reason))
        self._fold = ReplyFold(self._used_ids, self._new_id)
        self._thinking.clear()
        self.n_tries = retry.attempt + 1
        self.profile = self._profiles.get(retry.model, self.profile)
        scheduled = RetryScheduled(
            context, retry.attempt, retry.of_attempts, round(retry.delay_s, 1), retry.reason
        )
        self._recorder.announce(scheduled)

    def _show(self, event: StreamEvent) -> None:
        context = self._request.context
        match event:
            case TextDelta() if not self.shows_text:
                pass
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
