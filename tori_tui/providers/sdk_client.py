"""The thin part around both SDKs: one POST, answered by events or by a clear error.

An SDK is opened in a thread at the first request, so that the event loop goes on. Bytes are
decoded here and not by the SDK: it waits for the connection to close after the end marker, fails
on a stray empty event, and does not tell a cut stream from a finished one. Must not name a vendor.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tori_tui.providers.base import StreamEvent
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.http_failure import (
    cut,
    failure_from_connection,
    failure_from_response,
    garbled,
    stalled,
)
from tori_tui.providers.settings import CONNECT_TIMEOUT_S, Endpoint
from tori_tui.providers.sse_stream import EventDecoder, decode_stream

if TYPE_CHECKING:
    import httpx2

DRAIN_S: Final = 0.05
"""A server that ends its answer does so in the packet of its end marker; others lose the connection."""

KEEPALIVE_S: Final = 90.0
"""Longer than most tools run: the next turn needs no new TLS handshake. The library's is 5 s."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """An opened SDK: its client, and the types that each SDK has under its own names."""

    client: Any
    stream_type: type[Any]
    error: type[Exception]


class SdkClient:
    """One server, one connection pool.

    Args:
        endpoint: Where requests go.
        open_sdk: Imports the SDK and makes its client with a key; runs in a thread.
    """

    def __init__(self, endpoint: Endpoint, open_sdk: Callable[[Endpoint, str], Sdk]) -> None:
        self._endpoint = endpoint
        self._open_sdk = open_sdk
        self._sdk: Sdk | None = None
        self._secret = ""
        self._opening = asyncio.Lock()

    async def prepare(self) -> None:
        """Import the SDK and open the pool ahead of the first request."""
        await self._opened()

    async def events(
        self, path: str, body: Mapping[str, Any], decoder: EventDecoder, *, late_system: bool
    ) -> AsyncGenerator[StreamEvent, None]:
        """Send the body and yield what the decoder makes of the answer.

        Raises:
            ProviderError: See `Provider.stream`.
        """
        sdk = await self._opened()
        # As bytes: the SDK's own writing of a long history takes ten times as long, at every turn.
        content = msgspec.json.encode(body)
        options = {"cast_to": _response_type(), "content": content, "stream": True}
        call = sdk.client.post(path, stream_cls=sdk.stream_type, **options)
        response = await self._answer(sdk, call, late_system=late_system)
        try:
            async with aclosing(self._bytes(response, decoder)) as chunks:
                async for event in decode_stream(chunks, decoder, self._endpoint.idle_timeout_s):
                    yield event
                await _drain(chunks)
        finally:
            await response.aclose()

    async def get_json(self, path: str) -> object:
        """Return the JSON that a plain GET gives.

        Raises:
            ProviderError: The server cannot be asked, or answers something else.
        """
        sdk = await self._opened()
        call = sdk.client.get(path, cast_to=_response_type())
        response = await self._answer(sdk, call, late_system=False)
        try:
            value: object = response.json()
        except ValueError as error:
            raise garbled(response.text) from error
        return value

    async def close(self) -> None:
        """Close the pool. Safe to call twice."""
        if self._sdk is not None:
            await self._sdk.client.close()

    async def _answer(
        self, sdk: Sdk, call: Awaitable[httpx2.Response], *, late_system: bool
    ) -> httpx2.Response:
        try:
            response: httpx2.Response = await call
        except (sdk.error, _http_error()) as error:
            refused = getattr(error, "response", None)
            if not isinstance(refused, _response_type()):
                raise self._unanswered(error) from error
            raise failure_from_response(
                refused.status_code,
                refused.headers,
                refused.text,
                late_system=late_system,
                secret=self._secret,
            ) from error
        return response

    async def _bytes(self, response: httpx2.Response, decoder: EventDecoder) -> AsyncGenerator[bytes, None]:
        """Yield the answer's bytes; a connection lost after a whole reply is an ordinary end."""
        gulp_s, clock = self._endpoint.gulp_s, asyncio.get_running_loop().time
        asked_s = clock()
        try:
            async for chunk in response.aiter_bytes():
                is_fast = clock() - asked_s < gulp_s
                yield chunk
                if is_fast and not decoder.is_finished:
                    await asyncio.sleep(gulp_s)
                asked_s = clock()
        except _timeout() as error:
            raise stalled(self._endpoint.idle_timeout_s) from error
        except _http_error() as error:
            if not decoder.is_ending:
                raise cut(str(error) or type(error).__name__) from error

    def _unanswered(self, error: BaseException) -> ProviderError:
        if type(error.__cause__ or error).__name__ == "ReadTimeout":
            return stalled(self._endpoint.idle_timeout_s)
        endpoint = self._endpoint
        return failure_from_connection(
            error, endpoint.base_url, proxy_variable=endpoint.proxy_variable, secret=self._secret
        )

    async def _opened(self) -> Sdk:
        async with self._opening:
            if self._sdk is None:
                self._secret = await asyncio.to_thread(self._endpoint.read_key)
                self._sdk = await asyncio.to_thread(self._open_sdk, self._endpoint, self._secret)
        return self._sdk


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read what follows the end marker, so that the connection can serve the next request."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass


def http_options(endpoint: Endpoint) -> dict[str, Any]:
    """Return the arguments for the HTTP client that an SDK is given.

    Raises:
        ProviderError: The CA file cannot be used.
    """
    import httpx2

    options: dict[str, Any] = {
        "timeout": httpx2.Timeout(endpoint.idle_timeout_s, connect=CONNECT_TIMEOUT_S),
        "limits": httpx2.Limits(keepalive_expiry=KEEPALIVE_S),
    }
    if endpoint.ca_file is not None:
        options["verify"] = tls_context(endpoint.ca_file)
    elif endpoint.base_url.startswith("http://") and not endpoint.proxy_variable:
        # Without authorities: reading them takes 30 ms that a server without TLS has no use for, and
        # a redirect from it to another place is refused instead of followed with the key.
        options["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return options


def tls_context(ca_file: Path) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities and those in a file.

    Raises:
        ProviderError: The file cannot be read or holds no certificate.
    """
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        raise ProviderError(
            f"The CA file {str(ca_file)!r} cannot be used: {error.strerror or error}",
            "ca_file under [providers.NAME] must name a PEM file.",
            fault="connection",
        ) from error
    return context


def _response_type() -> type[Any]:
    import httpx2

    return httpx2.Response


def _http_error() -> type[Exception]:
    import httpx2

    return httpx2.HTTPError


def _timeout() -> type[Exception]:
    import httpx2

    return httpx2.TimeoutException


__all__ = ["Sdk", "SdkClient", "http_options", "tls_context"]
