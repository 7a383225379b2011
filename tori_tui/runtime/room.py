"""What follows a request that is refused as too large: a rewrite, then a summary, then a clear error.

Must not loop: each refusal of one turn has its one answer, and the last one is the error.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from tori_tui.domain.events import MessagesFolded, NoticeShown
from tori_tui.domain.request import ModelProfile
from tori_tui.providers.base import Provider
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.fold import ReplyFold
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.requests import RequestBuilder

REWRITES: Final = 1
"""Refusals of one turn that a rewrite without a model answers; the next one is answered by a summary."""

NO_ROOM: Final = "Shorten the instructions, start anew with /clear, or use a model with a larger window."


class Room:
    """Makes room in the view of one session."""

    def __init__(self, recorder: Recorder, requests: RequestBuilder, new_id: Callable[[], str]) -> None:
        self._recorder = recorder
        self._requests = requests
        self._new_id = new_id

    async def make(
        self, profile: ModelProfile, provider: Provider, n_refusals: int, error: ProviderError
    ) -> None:
        """Make room after a refusal.

        Args:
            profile: Of the model that refused.
            provider: The model's.
            n_refusals: Of this turn, this one included.
            error: The refusal.

        Raises:
            ProviderError: Nothing more can be freed; the history stays as it is.
        """
        rewrite = None
        if n_refusals <= REWRITES:
            rewrite = self._requests.refused(self._recorder.state, profile)
        elif n_refusals == REWRITES + 1:
            rewrite = await self._summarized(profile, provider)
        if rewrite is None:
            told = self._requests.explained(self._recorder.state, profile)
            raise ProviderError(
                f"{told} ({error.message})", NO_ROOM, fault="context_overflow", status=error.status
            ) from error
        await self._recorder.record(rewrite)

    async def _summarized(self, profile: ModelProfile, provider: Provider) -> MessagesFolded | None:
        """Let the model summarise; None if it says nothing, fails, or nothing is gained."""
        request = self._requests.summary_request(self._recorder.state, profile)
        if request is None:
            return None
        self._recorder.announce(NoticeShown("The context does not fit; the model summarises its older part."))
        fold = ReplyFold(frozenset(), self._new_id)
        try:
            async with aclosing(provider.stream(request)) as events:
                async for event in events:
                    fold.add(event)
            summary = fold.reply().content
        except ProviderError as failed:
            self._recorder.announce(NoticeShown(f"The summary failed: {failed.message}", "warning"))
            return None
        return self._requests.summarized(self._recorder.state, profile, summary)


__all__ = ["REWRITES", "Room"]
