"""What the app costs: first frame, streaming, keys while it streams, idling, a long trace.

The first frame is compared with a minimal Textual app in the same run. Must not use a network.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tests.bench.ui_process import Watched
from tests.bench.ui_server import StreamingServer
from tori_tui.domain.events import MessageAdded, PlanChanged, Record, RunStatusChanged
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, MissionId, Seq
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.trace.store import JsonlTraceStore

ROUNDS: Final = 7
FIRST_FRAME_BAR_MS: Final = 100.0
LAST_TEXT_BAR_MS: Final = 25.0
STREAM_CPU_BAR_S: Final = 0.45
ECHO_BAR_MS: Final = 30.0
IDLE_BAR_PERCENT: Final = 0.3
OPEN_BAR_S: Final = 1.0
MEMORY_BAR_MB: Final = 150.0

IDLE_S: Final = 15.0
N_MESSAGES: Final = 2_000
N_KEYS: Final = 40

READY: Final = "What is to be done?"
END: Final = "Zzyzx"

MINIMAL: Final = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("minimal")

Minimal().run()
"""

PARAGRAPH: Final = (
    "The **till** hands out `total // people` to everybody, so the remainder is lost; three people who "
    "share ten pay nine. Each of the first ones pays one cent more until nothing is left over.\n\n"
    "- look at `split_bill` in till.py\n- keep the order of the people\n\n"
    "```python\ndef split_bill(total, people):\n    share, rest = divmod(total, people)\n"
    "    return [share + 1] * rest + [share] * (people - rest)\n```\n\n"
)

STREAM_CHARS: Final = 9_136
"""2,284 tokens of four characters."""


def measure() -> Sequence[Figure]:
    """Return the figures of the app."""
    return [figure for row in ROWS.values() for figure in row()]


def measure_first_frame() -> Sequence[Figure]:
    """Return the time to the first frame, beside that of a minimal Textual app."""
    with tempfile.TemporaryDirectory() as folder:
        return _first_frame(Path(folder))


def measure_stream() -> Sequence[Figure]:
    """Return what a fast answer costs, and how late its end is."""
    with tempfile.TemporaryDirectory() as folder:
        return _streaming(Path(folder))


def measure_echo() -> Sequence[Figure]:
    """Return how long a typed key takes while an answer streams."""
    with tempfile.TemporaryDirectory() as folder:
        return [_echo(Path(folder))]


def measure_replay() -> Sequence[Figure]:
    """Return how soon a long trace is open, and what it takes in memory."""
    with tempfile.TemporaryDirectory() as folder:
        return _long_trace(Path(folder))


def measure_idle() -> Sequence[Figure]:
    """Return what the app costs while nothing happens."""
    with tempfile.TemporaryDirectory() as folder:
        return [_idle(Path(folder))]


ROWS: Final[Mapping[str, Callable[[], Sequence[Figure]]]] = {
    "app-frame": measure_first_frame,
    "app-stream": measure_stream,
    "app-echo": measure_echo,
    "app-replay": measure_replay,
    "app-idle": measure_idle,
}
"""Each takes less than a minute alone."""


def _environ(place: Path, url: str = "http://127.0.0.1:9/v1") -> Mapping[str, str]:
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "PYTHONPATH")}
    keys = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url, "TORI_MODEL": "openai-chat/m"}
    return {**kept, **keys, "HOME": str(place), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def start_tori(place: Path, *arguments: str, url: str = "http://127.0.0.1:9/v1") -> Watched:
    """Start tori in a terminal of its own."""
    program = str(Path(sys.executable).with_name("tori"))
    return Watched((program, *arguments), cwd=place, environ=_environ(place, url))


def _first_frame(place: Path) -> list[Figure]:
    script = place / "minimal.py"
    script.write_text(MINIMAL)
    minimal_s: list[float] = []
    tori_s: list[float] = []
    for round_ in range(ROUNDS + 1):
        for text, found in (("minimal", minimal_s), ("Goals", tori_s)):
            is_tori = found is tori_s
            process = (
                start_tori(place)
                if is_tori
                else Watched((sys.executable, str(script)), cwd=place, environ=_environ(place))
            )
            shown_s = process.wait_for(text) - process.started_s
            process.stop()
            if round_:  # the first one fills the caches
                found.append(shown_s)
    minimal, tori = (statistics.median(found) * 1_000 for found in (minimal_s, tori_s))
    note = f"{tori:.0f} ms, minimal Textual app {minimal:.0f} ms"
    return [Figure("first frame − minimal app", tori - minimal, " ms", FIRST_FRAME_BAR_MS, note)]


def streamed_text(chars: int) -> str:
    """Return an answer of that many characters that ends with `END`."""
    text = (PARAGRAPH * (chars // len(PARAGRAPH) + 1))[: chars - len(END) - 8]
    return f"{text}\n```\n\n{END}" if text.count("```") % 2 else f"{text}\n\n{END}"


def _streaming(place: Path) -> list[Figure]:
    lags_ms, cpu_s = [], []
    for _ in range(3):
        with StreamingServer(streamed_text(STREAM_CHARS), piece_chars=16, every_s=0.002) as server:
            process = start_tori(place, url=server.url)
            process.wait_for(READY)
            process.read_for(4.0)
            before_s = process.cpu_s
            process.send(b"go\r")
            shown_s = process.wait_for(END)
            process.read_for(0.3)
            lags_ms.append((shown_s - server.last_piece_s) * 1_000)
            cpu_s.append(process.cpu_s - before_s)
            process.stop()
    lag = statistics.median(lags_ms)
    return [
        Figure("last text after the last chunk", lag, " ms", LAST_TEXT_BAR_MS, spread(lags_ms)),
        Figure("CPU for 2,284 tokens", statistics.median(cpu_s), " s", STREAM_CPU_BAR_S, spread(cpu_s)),
    ]


def _echo(place: Path) -> Figure:
    with StreamingServer(streamed_text(20_000), piece_chars=16, every_s=0.008) as server:
        process = start_tori(place, url=server.url)
        process.wait_for(READY)
        process.read_for(4.0)
        process.send(b"go\r")
        server.is_streaming.wait(30)
        process.read_for(0.5)
        times_ms = echoes_ms(process)
        was_streaming = not server.is_done.is_set()
        process.stop()
    worst = sorted(times_ms)[int(N_KEYS * 0.95)]
    note = f"median {statistics.median(times_ms):.0f} ms" + ("" if was_streaming else ", stream ended early")
    return Figure("key echo p95 while 2,000 chars/s stream", worst, " ms", ECHO_BAR_MS, note)


def echoes_ms(process: Watched) -> list[float]:
    """Type keys into the input and return how long each took to be drawn."""
    times_ms = []
    for number in range(N_KEYS):
        key = chr(0x2460 + number)
        pressed_s = time.monotonic()
        process.send(key.encode())
        times_ms.append((process.wait_for(key, 10) - pressed_s) * 1_000)
        process.read_for(0.11)
    return times_ms


def _long_trace(place: Path) -> list[Figure]:
    directory = place / ".trace" / "20260101-000000-aaaa"
    _write_trace(directory)
    opened_s: list[float] = []
    memory_mb = 0.0
    for _ in range(3):
        process = start_tori(place, "replay", str(directory))
        opened_s.append(process.wait_for(END) - process.started_s)
        process.read_for(1.5)
        for _ in range(30):
            process.send(b"\x1b[5~")
            process.read_for(0.05)
        memory_mb = max(memory_mb, process.memory_mb)
        process.stop()
    return [
        Figure("replay of 2,000 messages open", statistics.median(opened_s), " s", OPEN_BAR_S),
        Figure("its memory after 30 pages up", memory_mb, " MB", MEMORY_BAR_MB),
    ]


def _idle(place: Path) -> Figure:
    process = start_tori(place)
    process.wait_for(READY)
    process.read_for(4.0)
    before_s = process.cpu_s
    process.read_for(IDLE_S)
    idle = (process.cpu_s - before_s) / IDLE_S * 100
    process.stop()
    return Figure("idle CPU", idle, " %", IDLE_BAR_PERCENT)


def _write_trace(directory: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    events: list[MessageAdded | PlanChanged | RunStatusChanged] = [
        RunStatusChanged("running", model="openai-chat/m", mode="auto", cwd="/"),
        PlanChanged((MissionOpened(MissionId("m1"), "a long one"),), "user"),
    ]
    for number in range(N_MESSAGES // 2):
        call = ToolCall(CallId(f"c{number}"), "bash", {"command": f"pytest -q tests/test_{number}.py"})
        text = f"{PARAGRAPH}{END if number == N_MESSAGES // 2 - 1 else ''}"
        events.append(MessageAdded(Message(MAIN_CONTEXT, None, "assistant", text, tool_calls=(call,))))
        events.append(
            MessageAdded(
                Message(MAIN_CONTEXT, None, "tool", "ok\n" * 40, "tool", tool_call_id=call.id, name="bash")
            )
        )
    with JsonlTraceStore.open(directory) as store:
        for number, event in enumerate(events, 1):
            store.append(Record(Seq(number), at, event))


def spread(values: Sequence[float]) -> str:
    """Return the least and the most, as a note."""
    return f"{min(values):.3g} to {max(values):.3g}"


__all__ = ["ROWS", "echoes_ms", "measure", "spread", "start_tori", "streamed_text"]


if __name__ == "__main__":
    from tests.bench.figures import table

    sys.stdout.write(table(measure()) + "\n")
