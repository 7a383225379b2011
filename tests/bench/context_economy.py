"""`make bench-context`: the view engine's profiles beside other policies, on recordings and fresh sessions.

Must not measure anything itself: the meter in the given folder does, the engine is adapted in
`context_policy`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

POLICIES: Final = (
    "create",
    "balanced_without_plan",
    "rich",
    "rich_without_plan",
    "economy",
    "economy_without_plan",
)
BASELINES: Final = "opencode-core,opencode-1.x,default,oracle-trim,oracle-drop"

FRESH: Final = ((101, 60, 250_000), (211, 110, 420_000))
"""Seed, goals and tokens of sessions that no one has tuned on."""

SHORT: Final = ((307, 8, 45_000), (401, 6, 30_000))
"""Sessions that should be left alone."""

WANTED: Final = "the folder of the context economy meter: it holds economy.py, meter/ and synthetic/"


def main(arguments: Sequence[str]) -> int:
    """Print two tables, long sessions and short ones; the exit code is 1 where a request was not valid."""
    folder = Path(arguments[0] if arguments else "")
    if not (folder / "economy.py").is_file():
        sys.stderr.write(f"{folder!s:.200} is not {WANTED}. Name it: make bench-context ECONOMY=DIR\n")
        return 2
    recordings = [folder / name for name in ("trajectories", "synthetic") if (folder / name).is_dir()]
    with tempfile.TemporaryDirectory() as made:
        fresh = [_made(folder, Path(made), *spec) for spec in FRESH]
        short = [_made(folder, Path(made), *spec) for spec in SHORT]
        seeds = [seed for seed, *_ in FRESH]
        _say(f"Recordings: {', '.join(path.name for path in recordings)}; fresh seeds {seeds}\n")
        code = _measured(folder, [*recordings, *fresh])
        _say(f"\nShort sessions, seeds {[seed for seed, *_ in SHORT]}\n")
        return max(code, _measured(folder, short))


def _made(folder: Path, target: Path, seed: int, n_goals: int, n_tokens: int) -> Path:
    out = target / f"fresh-seed{seed}.jsonl"
    script = folder / "synthetic" / "make_long.py"
    options = ("--seed", seed, "--goals", n_goals, "--tokens", n_tokens, "--out", out)
    command = [sys.executable, str(script), *map(str, options)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def _measured(folder: Path, recordings: Sequence[Path]) -> int:
    adapter = Path(__file__).with_name("context_policy.py").resolve()
    policies = [part for name in POLICIES for part in ("--policy", f"{adapter}:{name}")]
    command = [sys.executable, str(folder / "economy.py"), *map(str, recordings), *policies]
    root = str(Path(__file__).resolve().parents[2])
    environ = {**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"}
    sys.stdout.flush()
    return subprocess.run([*command, "--baselines", BASELINES], env=environ, check=False).returncode


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
