"""What a checkpoint costs beside `git status`, in a tree of 20,000 files after a change of one.

Must not measure the first one against the bar: it runs beside the first request.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tori_tui.workspace.checkpoints import Checkpoints

N_FOLDERS: Final = 200
FILES_A_FOLDER: Final = 100
N_RUNS: Final = 9
ENVIRON: Final = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def measure() -> list[Figure]:
    """Measure in a fresh repository and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        _make_tree(root)
        checkpoints = Checkpoints.open(root, Path(folder, "state"), ENVIRON)
        if checkpoints is None:
            raise RuntimeError("There is no git program.")
        saver = checkpoints
        first_s = _seconds(lambda: saver.save("bench"))
        status_s: list[float] = []
        save_s: list[float] = []
        for run in range(N_RUNS):
            (root / "d7" / "f7.py").write_text(f"changed = {run}\n")
            save_s.append(_seconds(lambda: saver.save("bench")))
            status_s.append(_seconds(lambda: _git(root, "status", "--porcelain")))
    save, status = statistics.median(save_s), statistics.median(status_s)
    note = f"{save * 1000:.0f} ms and {status * 1000:.0f} ms; the first one {first_s:.1f} s"
    return [Figure("checkpoint after a change / git status, 20,000 files", save / status, " ×", 3, note)]


def _make_tree(root: Path) -> None:
    for number in range(N_FOLDERS):
        place = root / f"d{number}"
        place.mkdir(parents=True)
        for name in range(FILES_A_FOLDER):
            (place / f"f{name}.py").write_text(f"value = {number} * {name}\n" * 40)
    _git(root, "init", "--quiet")
    _git(root, "add", "--all")
    _git(root, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--message=all")


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, env=ENVIRON, check=True, stdout=subprocess.DEVNULL)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


__all__ = ["measure"]
