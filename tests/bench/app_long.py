"""What the app costs over a session of 5,000 messages: opening, keys while it streams, scrolling, memory.

Must not use a network; each row takes less than a minute alone.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench.app_trace import END, write_trace
from tests.bench.figures import Figure
from tests.bench.turns import Server, answer
from tests.bench.ui_process import Watched
from tests.bench.ui_screen import echoes_ms, spread, start_tori, streamed_text
from tests.bench.ui_server import StreamingServer

N_MESSAGES: Final = 5_000
N_MORE: Final = 1_000

OPEN_BAR_S: Final = 1.5
ECHO_BAR_MS: Final = 50.0
PAGE_BAR_MS: Final = 100.0
MEMORY_BAR_MB: Final = 220.0
GROWTH_BAR_MB: Final = 12.0
"""What 1,000 more messages may add: their own text, twice (as messages, and as blocks to draw), no lines."""

ROUNDS: Final = 5
PAGE_UP: Final = b"\x1b[5~"
HOME: Final = b"\x1b[H"
END_KEY: Final = b"\x1b[F"
NEXT_PANE: Final = b"\x1b[17~"
PANES_TO_TRANSCRIPT: Final = 2
QUIET_S: Final = 0.02
"""So long after its first piece a frame is out."""

CALLS_A_TURN: Final = 5
"""So that the further messages stay below the limit of turns in a run."""

PAGES_LIMIT: Final = 1_500

FIRST: Final = "Make the till of shop 1 share"
"""Stands at the very start."""

FIRST_ANSWER: Final = "Frobozz"
LAST: Final = "Qwyjibo"
"""Ends the answer behind the further messages."""


def measure_open() -> Sequence[Figure]:
    """Return how soon the end of a long session stands on the screen."""
    opened_s: list[float] = []
    cpu_s: list[float] = []
    with _long_session() as place:
        for round_ in range(ROUNDS + 1):
            process = start_tori(place, "resume")
            shown_s, used_s = process.wait_for(END) - process.started_s, process.cpu_s
            process.stop()
            if round_:  # the first one fills the caches
                opened_s.append(shown_s)
                cpu_s.append(used_s)
    opened = statistics.median(opened_s)
    note = f"{spread(opened_s)}, CPU {statistics.median(cpu_s):.2f} s"
    return [Figure("5,000 messages: open", opened, " s", OPEN_BAR_S, note)]


def measure_echo() -> Sequence[Figure]:
    """Return how long a typed key takes while an answer streams below a long session."""
    with (
        _long_session() as place,
        StreamingServer(streamed_text(20_000), piece_chars=16, every_s=0.008) as server,
    ):
        process = _resumed(place, server.url)
        process.send(b"go\r")
        server.is_streaming.wait(30)
        process.read_for(0.5)
        times_ms = echoes_ms(process)
        was_streaming = not server.is_done.is_set()
        process.stop()
    worst = sorted(times_ms)[int(len(times_ms) * 0.95)]
    note = f"median {statistics.median(times_ms):.0f} ms" + ("" if was_streaming else ", stream ended early")
    return [Figure("5,000 messages: key echo p95 while streaming", worst, " ms", ECHO_BAR_MS, note)]


def measure_scroll() -> Sequence[Figure]:
    """Return the longest wait for a page on the whole way up, and for the jump to the very start."""
    with _long_session() as place:
        process = _resumed(place)
        for _ in range(PANES_TO_TRANSCRIPT):
            process.send(NEXT_PANE)
            process.read_for(0.3)
        jump_ms, text = _drawn(process, HOME)
        if FIRST not in text:
            raise RuntimeError(f"The first line did not come into view: {text}")
        _drawn(process, END_KEY)
        waits_ms: list[float] = []
        text = ""
        while FIRST not in text and len(waits_ms) < PAGES_LIMIT:
            wait_ms, text = _drawn(process, PAGE_UP)
            waits_ms.append(wait_ms)
        process.stop()
    note = f"{len(waits_ms)} pages, median {statistics.median(waits_ms):.0f} ms"
    return [
        Figure("5,000 messages: longest wait for a page up", max(waits_ms), " ms", PAGE_BAR_MS, note),
        Figure("5,000 messages: from the end to the start", jump_ms, " ms", PAGE_BAR_MS),
    ]


def measure_memory() -> Sequence[Figure]:
    """Return the memory of a long session, scrolled through, and what 1,000 more messages add."""
    with _long_session() as place, _calling_server() as url:
        (place / "part.py").write_text(
            "".join(f"line {n} of the part, {n * 7919 % 1009} 行\n" for n in range(4_000))
        )
        process = _resumed(place, url)
        # What one request needs is loaded, and as many lines drawn as are kept, before anything is measured.
        process.send(b"begin\r")
        process.wait_for(FIRST_ANSWER)
        for _ in range(100):
            process.send(PAGE_UP)
            process.read_for(0.03)
        before_mb = process.memory_mb
        process.send(b"go on\r")
        process.wait_for(LAST, 120)
        process.read_for(1.0)
        after_mb = process.memory_mb
        process.stop()
    return [
        Figure("5,000 messages: memory", before_mb, " MB", MEMORY_BAR_MB),
        Figure("5,000 messages: grown by 1,000 more", after_mb - before_mb, " MB", GROWTH_BAR_MB),
    ]


ROWS: Final[Mapping[str, Callable[[], Sequence[Figure]]]] = {
    "app-long-open": measure_open,
    "app-long-echo": measure_echo,
    "app-long-scroll": measure_scroll,
    "app-long-memory": measure_memory,
}


@contextmanager
def _long_session() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_trace(place / ".trace" / "20260101-000000-aaaa", N_MESSAGES)
        yield place


def _resumed(place: Path, url: str = "http://127.0.0.1:9/v1") -> Watched:
    process = start_tori(place, "resume", "--mode", "auto", url=url)
    process.wait_for(END)
    process.read_for(4.0)  # what is loaded behind the first picture
    return process


def _drawn(process: Watched, key: bytes) -> tuple[float, str]:
    """Press a key; return after how many milliseconds its frame began to come, and its text."""
    pressed_s = time.monotonic()
    process.send(key)
    drawn_s = process.wait_for_output(10.0)
    if drawn_s is None:
        raise RuntimeError("The view did not move.")
    return (drawn_s - pressed_s) * 1_000, process.read_until_quiet(QUIET_S)


@contextmanager
def _calling_server() -> Iterator[str]:
    """Serve `FIRST_ANSWER`, then answers that read on in a file, each some pieces of it, then `LAST`."""
    replies = []
    for first in range(0, N_MORE, CALLS_A_TURN + 1):
        pieces = range(first, first + CALLS_A_TURN)
        calls: list[tuple[str, dict[str, object]]] = [
            ("read_file", {"path": "part.py", "offset": 1 + 4 * n, "limit": 4}) for n in pieces
        ]
        replies.append(answer(f"Now from line {first} on. 再看第 {first} 行。", calls))
    server = Server([answer(FIRST_ANSWER, []), *replies, answer(LAST, [])], model_s=0.0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


__all__ = ["ROWS"]
