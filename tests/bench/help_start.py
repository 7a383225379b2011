"""How long `tori --help` takes beside a typer program of one command with plain help.

Must not compare with times of another run: the machine is shared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure

ROUNDS: Final = 15

BAR_RATIO: Final = 1.6

HELLO: Final = '''
import typer

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def hello(name: str = "you") -> None:
    """Say hello."""
    print(name)


app()
'''


def measure() -> list[Figure]:
    """Start both programs in turns and compare the medians."""
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        commands = (
            (sys.executable, str(hello), "--help"),
            (str(Path(sys.executable).with_name("tori")), "--help"),
        )
        times: tuple[list[float], list[float]] = ([], [])
        for round_ in range(ROUNDS + 1):
            for command, found in zip(commands, times, strict=True):
                elapsed_s = _elapsed_s(command)
                if round_:  # the first one fills the caches
                    found.append(elapsed_s)
    hello_s, tori_s = (statistics.median(found) for found in times)
    note = f"{tori_s * 1000:.0f} ms, typer hello {hello_s * 1000:.0f} ms"
    return [Figure("tori --help / typer hello", tori_s / hello_s, " ×", BAR_RATIO, note)]


def _elapsed_s(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


__all__ = ["measure"]
