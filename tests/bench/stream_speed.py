"""From a chunk's arrival to its event, and what importing an SDK does to the event loop.

The server and the loop under test are processes of their own. Must not use a network.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from tests.bench.figures import Figure
from tests.providers.requests import profile, request
from tori_tui.providers.base import TextDelta
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings

PROTOCOLS: Final = ("openai-chat", "openai", "anthropic")

CHUNKS_PER_S: Final = 2_000

N_CHUNKS: Final = 4_000

BURST_CHUNKS: Final = 4
"""Written at once, two milliseconds apart: timers are not fine enough for half a millisecond."""

IMPORT_ROUNDS: Final = 3

TICK_S: Final = 0.001


def measure() -> Sequence[Figure]:
    """Return the figures of all three protocols."""
    figures = []
    for protocol in PROTOCOLS:
        found_ms = asyncio.run(_latencies_ms(protocol))
        note = f"p99 {statistics.quantiles(found_ms, n=100)[98]:.2f} ms, {CHUNKS_PER_S} chunks/s"
        figures.append(
            Figure(f"chunk to event, {protocol}, median", statistics.median(found_ms), " ms", 1.0, note)
        )
    for protocol in ("openai-chat", "anthropic"):
        rounds = [_import_lags_ms(protocol) for _ in range(IMPORT_ROUNDS)]
        p99_ms = statistics.median(p99 for p99, _, _ in rounds)
        worst_ms = statistics.median(worst for _, worst, _ in rounds)
        took_s = statistics.median(took for _, _, took in rounds)
        note = f"import {took_s:.2f} s"
        figures.append(Figure(f"loop lag while importing, {protocol}, p99", p99_ms, " ms", 50, note))
        figures.append(Figure(f"loop lag while importing, {protocol}, max", worst_ms, " ms", 300, note))
    return figures


def _chunk(protocol: str, text: str) -> bytes:
    match protocol:
        case "openai-chat":
            data: object = {"choices": [{"index": 0, "delta": {"content": text}}]}
        case "openai":
            data = {"type": "response.output_text.delta", "output_index": 0, "delta": text}
        case _:
            delta = {"type": "text_delta", "text": text}
            data = {"type": "content_block_delta", "index": 0, "delta": delta}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _closing(protocol: str) -> bytes:
    match protocol:
        case "openai-chat":
            return b"data: [DONE]\n\n"
        case "openai":
            return b'data: {"type": "response.completed", "response": {}}\n\n'
        case _:
            return b'data: {"type": "message_stop"}\n\n'


async def _serve(protocol: str) -> None:
    """Answer one request with chunks that hold the time at which they were written."""
    done = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        began_s = time.perf_counter()
        for burst in range(N_CHUNKS // BURST_CHUNKS):
            await asyncio.sleep(max(0.0, began_s + burst * BURST_CHUNKS / CHUNKS_PER_S - time.perf_counter()))
            for _ in range(BURST_CHUNKS):
                writer.write(_chunk(protocol, f"{time.perf_counter():.7f}"))
        writer.write(_closing(protocol))
        await writer.drain()
        writer.close()
        done.set()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await done.wait()


async def _latencies_ms(protocol: str) -> list[float]:
    command = (sys.executable, "-m", "tests.bench.stream_speed", "serve", protocol)
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    port = int(await server.stdout.readline())
    url = f"http://127.0.0.1:{port}" + ("" if protocol == "anthropic" else "/v1")
    provider = make_provider(profile(protocol), ProviderSettings(base_url=url), environ=os.environ)
    found: list[float] = []
    async with aclosing(provider.stream(request(of=profile(protocol)))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                found.append((time.perf_counter() - float(event.text)) * 1_000)
    await provider.close()
    await server.wait()
    return found


def _import_lags_ms(protocol: str) -> tuple[float, float, float]:
    """Return p99 and maximum of the loop's lag, and how long the import took, in a fresh process."""
    command = (sys.executable, "-m", "tests.bench.stream_speed", "import", protocol)
    done = subprocess.run(command, capture_output=True, check=True)
    p99_ms, worst_ms, took_s = json.loads(done.stdout)
    return p99_ms, worst_ms, took_s


async def _watch_import(protocol: str) -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:9")
    provider = make_provider(profile(protocol), settings, environ=os.environ)
    lags_ms: list[float] = []

    async def tick() -> None:
        while True:
            began_s = time.perf_counter()
            await asyncio.sleep(TICK_S)
            lags_ms.append((time.perf_counter() - began_s - TICK_S) * 1_000)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.05)
    lags_ms.clear()
    began_s = time.perf_counter()
    await provider.prepare()
    took_s = time.perf_counter() - began_s
    ticking.cancel()
    await provider.close()
    sys.stdout.write(json.dumps([statistics.quantiles(lags_ms, n=100)[98], max(lags_ms), took_s]))


if __name__ == "__main__":
    asyncio.run({"serve": _serve, "import": _watch_import}[sys.argv[1]](sys.argv[2]))
