"""The time between a reply's end and the next request, tool time excluded, and the memory of a long run.

A real `tori run` of 120 turns against a loopback server that does nothing but read and answer; the
tools' own time comes from the trace. Must not do work in the server that grows with the history.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tori_tui.domain.events import MessageAdded
from tori_tui.trace.store import JsonlTraceStore

N_RUNS: Final = 3
N_TURNS: Final = 120
TURNS_A_GOAL: Final = 10
MODEL_S: Final = 0.03
"""The fastest that a hosted model begins to answer; what tori does meanwhile delays nobody."""
N_EDGE: Final = 20
"""The first and the last turns that are compared."""


class Server(ThreadingHTTPServer):
    """Answers each request with the next reply."""

    def __init__(self, replies: Sequence[bytes], model_s: float = MODEL_S) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.replies = replies
        self.model_s = model_s
        self.arrived: list[float] = []
        self.answered: list[float] = []


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go in two writes: without this the second waits 40 ms for the client's ACK.
    disable_nagle_algorithm = True

    def parse_request(self) -> bool:
        # Before its headers are parsed, which is the server's own time.
        assert isinstance(self.server, Server)
        self.server.arrived.append(time.perf_counter())
        return super().parse_request()

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        time.sleep(server.model_s)
        body = server.replies[min(len(server.arrived), len(server.replies)) - 1]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        server.answered.append(time.perf_counter())

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


def _replies() -> Iterator[bytes]:
    """Yield the answers: a plan of goals, files read and edited by turns, a goal done every ten turns."""
    n_goals = N_TURNS // TURNS_A_GOAL
    for turn in range(N_TURNS - 2):
        goal, step = divmod(turn, TURNS_A_GOAL)
        calls: list[tuple[str, dict[str, object]]] = []
        if turn == 0:
            names = "\n".join(f"Part {n + 1}" for n in range(n_goals))
            calls.append(("goal", {"add": names, "focus": "1"}))
        if step == TURNS_A_GOAL - 1:
            wish: dict[str, object] = {"done": f"Part {goal + 1} is done: f{goal}.txt reads right."}
            if goal + 1 < n_goals:
                wish["focus"] = str(goal + 2)
            calls.append(("goal", wish))
        calls.append(("read_file", {"path": f"f{turn % 24}.txt", "offset": 1 + turn}))
        yield answer("", calls)
    yield answer("", [("goal", {"done": "The last part is done."})])
    yield answer("All parts are done.", [])


def answer(text: str, calls: list[tuple[str, dict[str, object]]]) -> bytes:
    """Return a streamed reply of the chat dialect."""
    deltas: list[dict[str, object]] = [{"role": "assistant", "content": text}]
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        deltas.append(
            {"tool_calls": [{"index": index, "id": f"c{index}", "type": "function", "function": function}]}
        )
    reason = "tool_calls" if calls else "stop"
    chunks: list[dict[str, object]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    chunks.append({"index": 0, "delta": {}, "finish_reason": reason})
    frame = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [json.dumps({**frame, "choices": [chunk]}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def measure() -> list[Figure]:
    """Run three times and return the figures of all turns together: a machine's pace drifts within a run."""
    runs = [_measured() for _ in range(N_RUNS)]
    gaps = [gap for run, _ in runs for gap in run]
    first = statistics.median(gap for run, _ in runs for gap in run[:N_EDGE])
    last = statistics.median(gap for run, _ in runs for gap in run[-N_EDGE:])
    return [
        Figure("reply's end to the next request, median", statistics.median(gaps), " ms", 8),
        Figure("the same, 95 of 100", statistics.quantiles(gaps, n=20)[-1], " ms", 25),
        Figure("last 20 turns / first 20", last / first, " ×", 1.0, f"{first:.1f} ms, then {last:.1f} ms"),
        Figure("peak memory of 120 turns", max(peak_mb for _, peak_mb in runs), " MB", 120),
    ]


def _measured() -> tuple[list[float], float]:
    """Run once; returns the time before each request in ms, and the peak of memory in MB."""
    server = Server(list(_replies()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        for n in range(24):
            lines = (f"file {n} line {line}: {line * 7919 % 1009} words of it\n" for line in range(400))
            (work / f"f{n}.txt").write_text("".join(lines))
        peak_mb = run_mission(work, folder, f"http://127.0.0.1:{server.server_address[1]}/v1")
        tool_s = tool_seconds(work)
    server.shutdown()
    server.server_close()
    return gaps_ms(server, tool_s), peak_mb


def run_mission(work: Path, home: str, url: str, path: str = os.environ["PATH"]) -> float:
    """Run the mission with the programs of a path; returns the peak of its resident memory in MB."""
    environ = {**os.environ, "HOME": home, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    environ |= {"PATH": path, "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}
    command = [
        sys.executable,
        "-c",
        _WITH_PEAK,
        "run",
        "read all",
        "--mode",
        "auto",
        "--model",
        "openai-chat/m",
    ]
    done = subprocess.run(
        command, cwd=work, env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise RuntimeError(f"tori ended with {done.returncode}: {done.stderr[-2_000:]}")
    return int(done.stderr.rsplit("peak_kb=", 1)[1]) / 1024


_WITH_PEAK: Final = """
import sys
from pathlib import Path
from tori_tui.cli.main import main
try:
    main()
finally:
    # Not getrusage: its peak still holds that of the process which forked this one.
    status = Path("/proc/self/status").read_text()
    sys.stderr.write("peak_kb=" + status.split("VmHWM:")[1].split()[0])
"""


def tool_seconds(work: Path) -> list[float]:
    """Return the tool time after each reply, from the trace."""
    (trace,) = [path.parent for path in (work / ".trace").glob("*/messages.jsonl")]
    seconds: list[float] = []
    with JsonlTraceStore.open(trace, read_only=True) as store:
        for record in store.records():
            if not isinstance(record.event, MessageAdded):
                continue
            message = record.event.message
            if message.role == "assistant":
                seconds.append(0.0)
            elif message.role == "tool":
                seconds[-1] += message.duration_s or 0.0
    return seconds


def gaps_ms(server: Server, tool_s: list[float]) -> list[float]:
    """Return the time from each reply's end to the next request, without the tools' own."""
    pairs = zip(server.answered, server.arrived[1:], tool_s, strict=False)
    return [(arrived - answered - tools) * 1000 for answered, arrived, tools in pairs]


__all__ = ["MODEL_S", "Server", "answer", "gaps_ms", "measure", "run_mission", "tool_seconds"]
