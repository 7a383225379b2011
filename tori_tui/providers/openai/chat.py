"""`openai-chat/NAME`: Chat Completions, spoken by OpenAI and every compatible server.

Must not encode or decode; `chat_encode` and `chat_decode` do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tori_tui.domain.request import ModelRequest
from tori_tui.providers.base import Provider, StreamEvent
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.openai.chat_decode import ChatDecoder
from tori_tui.providers.openai.chat_encode import (
    PROVIDER,
    ChatDialect,
    encode_chat,
    refused_parameter,
    without,
)
from tori_tui.providers.openai.client import model_names, open_openai
from tori_tui.providers.sdk_client import SdkClient
from tori_tui.providers.settings import Endpoint

OPENAI_HOST: Final = "api.openai.com"


class ChatProvider:
    """Chat Completions at one address."""

    name = PROVIDER

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dialect = ChatDialect(endpoint.host, is_openai=endpoint.host == OPENAI_HOST)
        self._client = SdkClient(endpoint, open_openai)
        self._first_model = ""
        self._refused: set[str] = set()

    async def prepare(self) -> None:
        """See `Provider.prepare`."""
        await self._client.prepare()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Provider.stream`.

        A profile without a model name means the server's first model. A parameter that the server
        refuses is left out from then on.
        """
        if not request.profile.model:
            named = replace(request.profile, model=await self.first_model())
            request = replace(request, profile=named)
        while True:
            body = without(encode_chat(request, self._dialect), self._refused)
            try:
                async with aclosing(self._events(request, body)) as events:
                    async for event in events:
                        yield event
                return
            except ProviderError as error:
                name = refused_parameter(body, error.message) if error.fault == "bad_request" else None
                if name is None:
                    raise
                self._refused.add(name)

    def _events(self, request: ModelRequest, body: Mapping[str, Any]) -> AsyncGenerator[StreamEvent, None]:
        return self._client.events(
            "/chat/completions",
            body,
            ChatDecoder(self._dialect.endpoint, request.profile.family),
            late_system=request.late_system is not None,
        )

    async def first_model(self) -> str:
        """Return the first model that the server lists; asked once.

        Raises:
            ProviderError: The server cannot be asked or lists none.
        """
        if not self._first_model:
            names = await model_names(self._client)
            if not names:
                raise ProviderError(
                    f"The server {self._endpoint.base_url} lists no model.",
                    "Name one: --model openai-chat/NAME.",
                    fault="not_found",
                )
            self._first_model = names[0]
        return self._first_model

    async def close(self) -> None:
        """See `Provider.close`."""
        await self._client.close()


if TYPE_CHECKING:
    _: Provider = ChatProvider(Endpoint(""))

__all__ = ["ChatProvider"]
