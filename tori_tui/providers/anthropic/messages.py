"""`anthropic/NAME`: the Messages API.

Must not encode or decode; `encode` and `decode` do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from tori_tui.domain.request import ModelRequest
from tori_tui.providers.anthropic.client import open_anthropic
from tori_tui.providers.anthropic.decode import MessagesDecoder
from tori_tui.providers.anthropic.encode import PROVIDER, encode_messages
from tori_tui.providers.base import Provider, StreamEvent
from tori_tui.providers.sdk_client import SdkClient
from tori_tui.providers.settings import Endpoint


class MessagesProvider:
    """The Messages API at one address."""

    name = PROVIDER

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = SdkClient(endpoint, open_anthropic)

    async def prepare(self) -> None:
        """See `Provider.prepare`."""
        await self._client.prepare()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Provider.stream`."""
        events = self._client.events(
            "/v1/messages",
            encode_messages(request),
            MessagesDecoder(request.profile.family),
            late_system=request.late_system is not None,
        )
        async with aclosing(events) as open_events:
            async for event in open_events:
                yield event

    async def close(self) -> None:
        """See `Provider.close`."""
        await self._client.close()


if TYPE_CHECKING:
    _: Provider = MessagesProvider(Endpoint(""))

__all__ = ["MessagesProvider"]
