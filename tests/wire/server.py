"""A model server on a loopback socket, driven by a script. Standard library only.

In a test:

    script = by_history(
        WireReply("I look.", (WireCall("read_file", {"path": "a.py"}),)),
        WireReply("Done."),
    )
    async with WireServer(script) as server:
        ... OPENAI_BASE_URL=server.openai_url  or  ANTHROPIC_BASE_URL=server.url ...
    assert server.violations == []
    server.requests[1].results      # texts of the tool results in the second request

A script is any function from `WireRequest` to an answer (`WireReply`, `WireRefusal`, `RawAnswer`);
`by_history` chooses by the number of replies in the history that it is sent, so that a client that
was killed goes on where it stopped; `in_order` goes by the request's number. One script serves
Chat Completions, Responses and Messages alike; the path decides.

Every request is recorded and held against the provider's own rules. One that breaks them is
answered 400, as the real server would, unless the server was made with `is_strict=False`.

As a process (`SCRIPT` is a name in `tests.wire.scripts`, or `module:attribute`):

    python -m tests.wire.server --script SCRIPT [--port 0] [--log FILE] [--lenient]

It prints `http://127.0.0.1:PORT` and serves until it is killed; each request is one JSON line in
FILE: number, protocol, body, violations.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import ssl
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, assert_never

from tests.wire.answers import (
    Answer,
    Ending,
    Protocol,
    RawAnswer,
    Script,
    WireCall,
    WireRefusal,
    WireReply,
    WireRequest,
    WireUsage,
)
from tests.wire.http_read import HttpRequest, read_http_request
from tests.wire.rules_chat import chat_violations
from tests.wire.rules_messages import messages_violations
from tests.wire.rules_responses import responses_violations
from tests.wire.write_chat import chat_events
from tests.wire.write_messages import messages_events
from tests.wire.write_responses import responses_events

PATHS: Mapping[str, Protocol] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}

RULES: Mapping[Protocol, Callable[[Mapping[str, Any]], tuple[str, ...]]] = {
    "chat": chat_violations,
    "responses": responses_violations,
    "messages": messages_violations,
}

WRITERS: Mapping[Protocol, Callable[[WireReply, tuple[WireCall, ...], WireUsage, int], list[bytes]]] = {
    "chat": chat_events,
    "responses": responses_events,
    "messages": messages_events,
}


class WireServer:
    """One server; use as an async context manager.

    Args:
        script: Chooses the answers.
        is_strict: Whether a request against the rules gets 400 instead of the script's answer.
        models: What `GET /v1/models` lists.
        log: A file for one JSON line a request.
        tls: For https.
    """

    def __init__(
        self,
        script: Script,
        *,
        is_strict: bool = True,
        models: tuple[str, ...] = ("wire-model",),
        port: int = 0,
        log: Path | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._script = script
        self._is_strict = is_strict
        self._models = models
        self._port = port
        self._log = log
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._n_calls = 0
        self.requests: list[WireRequest] = []
        """Every model request so far, in order."""
        self.n_connections = 0
        """How many connections clients have opened."""
        self.client_went_away = asyncio.Event()
        """Set once a client has gone in the middle of an answer."""

    @property
    def url(self) -> str:
        """The address without `/v1`, as ANTHROPIC_BASE_URL wants it."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The address with `/v1`, as OPENAI_BASE_URL wants it."""
        return f"{self.url}/v1"

    @property
    def violations(self) -> list[str]:
        """Everything that any request did against the rules."""
        return [
            f"request {request.number}: {text}" for request in self.requests for text in request.violations
        ]

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, ssl=self._tls)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.n_connections += 1
        try:
            while (request := await read_http_request(reader)) is not None:
                if not await self._answer(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_went_away.set()
        except asyncio.CancelledError:
            pass
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError, ssl.SSLError):
                await writer.wait_closed()

    async def _answer(self, http: HttpRequest, writer: asyncio.StreamWriter) -> bool:
        """Answer one request and say whether the connection goes on."""
        if http.path == "/v1/models":
            data = [{"id": name, "object": "model"} for name in self._models]
            return await _send_body(writer, 200, json.dumps({"object": "list", "data": data}))
        protocol = PATHS.get(http.path)
        if protocol is None:
            return await _send_body(writer, 404, json.dumps({"error": {"message": f"no route {http.path}"}}))
        request = self._record(protocol, http)
        if request.violations and self._is_strict:
            message = "; ".join(request.violations)
            return await _send_body(
                writer, 400, json.dumps({"error": {"message": message, "type": "invalid"}})
            )
        answer = self._script(request)
        match answer:
            case WireRefusal():
                body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
                return await _send_body(writer, answer.status, body, answer.headers)
            case RawAnswer():
                return await _send_raw(writer, answer)
            case WireReply():
                return await self._send_reply(writer, request, answer)
            case _:
                assert_never(answer)

    def _record(self, protocol: Protocol, http: HttpRequest) -> WireRequest:
        try:
            body: Any = json.loads(http.body)
            violations = RULES[protocol](body)
        except ValueError as error:
            body, violations = {}, (f"the body is no JSON: {error}",)
        request = WireRequest(protocol, len(self.requests) + 1, http.headers, body, violations)
        self.requests.append(request)
        if self._log is not None:
            line = {"number": request.number, "protocol": protocol, "body": body, "violations": violations}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        return request

    async def _send_reply(self, writer: asyncio.StreamWriter, request: WireRequest, reply: WireReply) -> bool:
        calls = tuple(self._with_id(call) for call in reply.calls)
        usage = reply.usage or self._estimate(request, reply)
        events = WRITERS[request.protocol](reply, calls, usage, request.number)
        is_cut = reply.cut_after is not None
        await asyncio.sleep(reply.first_delay_s)
        writer.write(_head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
        for event in events[: reply.cut_after]:
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))
            await writer.drain()
            if reply.piece_delay_s:
                await asyncio.sleep(reply.piece_delay_s)
        if is_cut:
            return await _end(writer, reply.ending)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _with_id(self, call: WireCall) -> WireCall:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        self._n_calls += 1
        call_id = f"call_{self._n_calls}" if call.id is None else call.id
        return replace(call, id=call_id, arguments=arguments)

    def _estimate(self, request: WireRequest, reply: WireReply) -> WireUsage:
        """Count four characters a token; what the request before began with alike is cached."""
        cached = 0
        if len(self.requests) > 1:
            before = json.dumps([self.requests[-2].body.get("tools"), *self.requests[-2].items])
            now = json.dumps([request.body.get("tools"), *request.items])
            same = next((at for at, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), 0)
            cached = same // 4
        n_out = len(reply.text) + sum(len(str(call.arguments)) for call in reply.calls)
        return WireUsage(request.size_tokens, n_out // 4 + 1, min(cached, request.size_tokens))


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send_body(
    writer: asyncio.StreamWriter, status: int, body: str, headers: Mapping[str, str] | None = None
) -> bool:
    data = body.encode()
    kind = "application/json" if body.startswith(("{", "[")) else "text/plain"
    writer.write(_head(status, {"content-type": kind, "content-length": str(len(data)), **(headers or {})}))
    writer.write(data)
    await writer.drain()
    return True


async def _send_raw(writer: asyncio.StreamWriter, answer: RawAnswer) -> bool:
    writer.write(_head(200, {"content-type": answer.content_type, "connection": "close"}))
    await writer.drain()
    raw = writer.get_extra_info("socket")
    if isinstance(raw, socket.socket) or raw is not None:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    is_first = True
    while is_first or answer.repeat:
        is_first = False
        for piece in answer.pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(answer.piece_delay_s)
    return await _end(writer, answer.ending)


async def _end(writer: asyncio.StreamWriter, ending: Ending) -> bool:
    """End the connection in the middle of an answer; the return value says that it does not go on."""
    match ending:
        case "close":
            return False
        case "reset":
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        case "hold":
            await asyncio.Event().wait()
            return False
        case _:
            assert_never(ending)


def find_script(name: str) -> Script:
    """Return a script by its name in `tests.wire.scripts`, or by `module:attribute`."""
    module, _, attribute = name.rpartition(":")
    script: Script = getattr(import_module(module or "tests.wire.scripts"), attribute)
    return script


async def serve_forever(server: WireServer) -> None:
    """Serve until the process is killed, after printing the address."""
    async with server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Run as a process; see the module's own text."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--lenient", action="store_true")
    options = parser.parse_args()
    server = WireServer(
        find_script(options.script), is_strict=not options.lenient, port=options.port, log=options.log
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve_forever(server))


__all__ = ["Answer", "WireServer", "find_script"]

if __name__ == "__main__":
    main()
