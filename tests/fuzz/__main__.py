"""`make fuzz`: `python -m tests.fuzz [SECONDS] [TARGET…]`, each target for so long.

Prints the seed of every input that broke something; exits 1 then.
"""

from __future__ import annotations

import random
import sys
import time
import traceback

from tests.fuzz.targets import TARGETS

SECONDS = 300.0

SHOWN_FAILURES = 5


def run(name: str, seconds: float, first_seed: int) -> tuple[int, list[int]]:
    """Feed a target for so long; returns how many inputs there were and the seeds that broke it."""
    until, seed, broken = time.monotonic() + seconds, first_seed, list[int]()
    while time.monotonic() < until and len(broken) < SHOWN_FAILURES:
        try:
            TARGETS[name](random.Random(seed))
        except Exception:
            broken.append(seed)
            sys.stdout.write(f"{name}, seed {seed}:\n{traceback.format_exc()[-1_500:]}\n")
        seed += 1
    return seed - first_seed, broken


def main() -> int:
    """Fuzz and report."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    has_failed = False
    for name in sys.argv[2:] or TARGETS:
        n_inputs, broken = run(name, seconds, random.SystemRandom().randrange(10**9))
        has_failed |= bool(broken)
        sys.stdout.write(f"{name}: {n_inputs:,} inputs in {seconds:.0f} s, {len(broken)} broke it\n")
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
