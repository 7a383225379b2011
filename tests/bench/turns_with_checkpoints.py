"""What saving the work tree adds to the time between a reply and the next request.

The same run of turns that each change a file, with checkpoints and without (no git program to be found).
Must not let the model answer faster than hosted ones do, save where that is the point.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench import turns
from tests.bench.figures import Figure

N_CHANGES: Final = 60
N_FILES: Final = 200
NO_PROGRAMS: Final = "/nonexistent"


def measure() -> list[Figure]:
    """Run with checkpoints and without, before a model and before one that answers at once."""
    with_ms, without_ms = (
        _median_ms(turns.MODEL_S, os.environ["PATH"]),
        _median_ms(turns.MODEL_S, NO_PROGRAMS),
    )
    at_once_ms = _median_ms(0.0, os.environ["PATH"])
    note = f"{without_ms:.1f} ms without; {at_once_ms:.1f} ms where the model answers at once"
    return [Figure("turns with checkpoints: reply's end to the next request", with_ms, " ms", 8, note)]


def _median_ms(model_s: float, path: str) -> float:
    server = turns.Server(list(_replies()), model_s)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        for n in range(N_FILES):
            place = work / f"d{n // 20}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"f{n}.txt").write_text(f"file {n}\n" * 40)
        turns.run_mission(work, folder, f"http://127.0.0.1:{server.server_address[1]}/v1", path)
        tool_s = turns.tool_seconds(work)
    server.shutdown()
    server.server_close()
    return statistics.median(turns.gaps_ms(server, tool_s))


def _replies() -> Iterator[bytes]:
    for turn in range(N_CHANGES):
        content = f"turn {turn}\n" * 300
        yield turns.answer("", [("write_file", {"path": f"d{turn % 10}/f{turn}.txt", "content": content})])
    yield turns.answer("All is written.", [])


__all__ = ["measure"]
