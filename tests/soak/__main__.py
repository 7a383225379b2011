"""`make soak`: `python -m tests.soak [SECONDS] [SEED]`.

Prints what was done and everything that was wrong; exits 1 if anything was.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time

from tests.soak.missions import Found, run_mission
from tests.soak.steady import growth_mb, run_steadily

SECONDS = 600.0

STEADY_SHARE = 0.3
"""Of the time: for the one session that lives long."""


async def soak(seconds: float, seed: int) -> tuple[Found, list[float]]:
    """Run both kinds, one after the other, and return what was found."""
    rng, found = random.Random(seed), Found()
    until = time.monotonic() + seconds * (1 - STEADY_SHARE)
    while time.monotonic() < until:
        await run_mission(rng, found)
    return found, await run_steadily(rng, seconds * STEADY_SHARE, found)


def main() -> int:
    """Soak and report."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}, {seconds:.0f} s\n")
    found, sizes = asyncio.run(soak(seconds, seed))
    ends = ", ".join(f"{code}: {n}" for code, n in sorted(found.ends.items()))
    sys.stdout.write(
        f"{found.n_missions} missions, {found.n_lives} processes (exit codes {ends}), {found.n_kills} kills, "
        f"{found.n_interrupts} interrupts, {found.n_requests} requests\n"
        f"memory of one session over {len(sizes)} missions: {sizes[0]:.0f} to {sizes[-1]:.0f} MB, "
        f"grown by {growth_mb(sizes):.1f} MB\n"
    )
    for what in found.wrong:
        sys.stdout.write(f"WRONG {what}\n")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
