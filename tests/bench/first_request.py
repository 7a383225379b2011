"""From the start of the process to its first model request, beside a bare script with the same SDK.

Must not use a network: the server is in this process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure

ROUNDS: Final = 9

BAR_RATIO: Final = 1.25

NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
"""A developer's setting; with it each start would compile what changed since the last installation."""

BARE: Final = """
import sys
from openai import OpenAI

client = OpenAI(max_retries=0)
stream = client.chat.completions.create(
    model="m", messages=[{"role": "user", "content": "hi"}], stream=True
)
for chunk in stream:
    if chunk.choices:
        sys.stdout.write(chunk.choices[0].delta.content or "")
"""

REPLY: Final = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}\n\n'
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class _Server(ThreadingHTTPServer):
    arrived_at: float = 0.0
    pid: int = 0
    cpu_s: float = 0.0
    """Of the client, until its request arrived: what a busy machine does not change much."""


class _Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        self.server.arrived_at = time.perf_counter()
        self.server.cpu_s = _cpu_s(self.server.pid)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


def measure() -> list[Figure]:
    """Start both programs in turns and compare the medians."""
    server = _Server(("127.0.0.1", 0), _Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    times: tuple[list[_Start], list[_Start]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        work = Path(folder) / "work"
        work.mkdir()
        subprocess.run(("git", "init", "--quiet"), cwd=work, check=True)
        environ = {
            **{name: value for name, value in os.environ.items() if name != NO_BYTECODE},
            "HOME": folder,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
        }
        tori = str(Path(sys.executable).with_name("tori"))
        commands = (
            (sys.executable, str(bare)),
            (tori, "run", "hi", "--mode", "auto", "--model", "openai-chat/m"),
        )
        for round_ in range(ROUNDS + 1):
            for command, found in zip(commands, times, strict=True):
                start = _started(command, server, work, environ)
                if round_:  # the first one fills the caches
                    found.append(start)
    server.shutdown()
    server.server_close()
    bare_s, tori_s = (statistics.median(start.elapsed_s for start in found) for found in times)
    bare_cpu_s, tori_cpu_s = (statistics.median(start.cpu_s for start in found) for found in times)
    name = "tori run to its first request / bare script"
    return [
        Figure(name, tori_s / bare_s, " ×", BAR_RATIO, f"{tori_s:.2f} s, bare script {bare_s:.2f} s"),
        Figure(
            f"{name}, CPU time",
            tori_cpu_s / bare_cpu_s,
            " ×",
            note=f"{tori_cpu_s:.2f} s, bare script {bare_cpu_s:.2f} s",
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Start:
    elapsed_s: float
    cpu_s: float


def _started(command: Sequence[str], server: _Server, cwd: Path, environ: dict[str, str]) -> _Start:
    server.arrived_at = 0.0
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    server.pid = process.pid
    _, errors = process.communicate(timeout=60)
    if process.returncode or not server.arrived_at:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {errors.decode()[-2_000:]}")
    return _Start(server.arrived_at - started, server.cpu_s)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    # User and system time: fields 14 and 15, of which two stand before the parenthesis.
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


__all__ = ["measure"]
