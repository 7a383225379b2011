from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.wire.answers import WireReply, by_history
from tests.wire.server import WireServer
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.listing import ModelServer, configured_servers, local_servers
from tori_tui.providers.settings import Endpoint, ProviderSettings

NAMES = ("qwen3-coder", "tts-1", "qwen3-coder")
KEY = "sk-planted-SECRETKEY-0123456789"


@asynccontextmanager
async def saying(answer: Callable[[str], bytes]) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers each request's head by a function; yields its address and the heads."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answer(heads[-1]))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", heads


def http(status: str, body: str, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def listing(*names: str) -> str:
    return '{"data": [' + ", ".join(f'{{"id": "{name}"}}' for name in names) + "]}"


async def names_of(server: ModelServer) -> Sequence[str]:
    return await asyncio.to_thread(server.models)


def found(environ: dict[str, str], **tables: ProviderSettings) -> list[tuple[str, str]]:
    own = {name.replace("_", "-"): table for name, table in tables.items()}
    return [(s.provider, s.endpoint.base_url) for s in configured_servers(own, environ)]


async def test_a_compatible_server_and_anthropic_are_asked_each_in_its_way() -> None:
    async with WireServer(by_history(WireReply("x")), models=NAMES) as server:
        environ = {"OPENAI_BASE_URL": server.openai_url, "ANTHROPIC_BASE_URL": server.url}
        anthropic, chat = configured_servers({}, environ)
        assert await names_of(anthropic) == ("anthropic/qwen3-coder", "anthropic/tts-1")
        assert await names_of(chat) == ("openai-chat/qwen3-coder", "openai-chat/tts-1")


async def test_the_key_goes_where_each_wants_it() -> None:
    async with saying(lambda _: http("200 OK", listing("a"))) as (url, heads):
        environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"}
        for server in configured_servers({}, {**environ, "OPENAI_API_KEY": KEY}):
            await names_of(server)
    assert heads[0].startswith("GET /v1/models?limit=1000 ")
    assert f"x-api-key: {KEY}".lower() in heads[0].lower()
    assert "anthropic-version: 2023-06-01" in heads[0].lower()
    assert heads[1].startswith("GET /v1/models ")
    assert f"Authorization: Bearer {KEY}" in heads[1]


async def test_a_redirect_takes_no_key_along() -> None:
    async with (
        saying(lambda _: http("200 OK", listing("a"))) as (elsewhere, others),
        saying(lambda _: http("302 Found", "", f"Location: {elsewhere}/v1/models")) as (url, _),
    ):
        server = ModelServer("openai-chat", Endpoint(f"{url}/v1", lambda: KEY))
        with pytest.raises(ProviderError, match="302"):
            await names_of(server)
        assert others == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            http("401 Unauthorized", '{"error": {"message": "no such key ' + KEY + '"}}'),
            "answered 401: no such",
        ),
        (http("200 OK", "<html>hello</html>"), "no model reply but this"),
        (http("200 OK", "[1, 2]"), "no model reply but this"),
        (b"\x00\x01nothing\r\n\r\n", "No connection"),
    ],
)
async def test_a_server_that_lists_nothing_is_told_in_words_without_the_key(
    answer: bytes, words: str
) -> None:
    async with saying(lambda _: answer) as (url, _):
        with pytest.raises(ProviderError, match=words) as caught:
            await names_of(ModelServer("openai-chat", Endpoint(f"{url}/v1", lambda: KEY)))
    assert KEY not in str(caught.value)


async def test_nobody_there_and_nobody_answering_are_given_up_soon() -> None:
    with pytest.raises(ProviderError, match="No connection"):
        await names_of(ModelServer("openai-chat", Endpoint("http://127.0.0.1:9/v1")))
    silent = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ProviderError, match=r"sent nothing for 0\.2 s"):
            await names_of(ModelServer("openai-chat", Endpoint(f"http://127.0.0.1:{port}/v1"), 0.2))
        silent.set()


def test_each_address_is_asked_once_by_the_protocol_that_is_meant() -> None:
    assert found({}) == []
    assert found({"OPENAI_API_KEY": "x"}) == [("openai", "https://api.openai.com/v1")]
    own = "http://127.0.0.1:8080/v1"
    assert found({"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": own}) == [("openai-chat", own)]
    assert found({}, openai=ProviderSettings(base_url=own)) == [("openai", own)]
    keys = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y"}
    assert [name for name, _ in found(keys, openai_chat=ProviderSettings(base_url=own))] == [
        "anthropic",
        "openai",
        "openai-chat",
    ]


async def test_a_server_on_a_usual_port_is_found_with_its_kind() -> None:
    async with WireServer(by_history(WireReply("x")), models=("llama3",)) as server:
        port = int(server.url.rpartition(":")[2])
        (local,) = local_servers({port: "Ollama"})
        assert (local.kind, await names_of(local)) == ("Ollama", ("openai-chat/llama3",))
    assert [server.endpoint.host for server in local_servers()] == [
        f"127.0.0.1:{port}" for port in (11434, 1234, 8000, 8080)
    ]
