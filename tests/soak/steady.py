"""One session that works for long against a faulty server: what it holds of memory must stay flat."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import tempfile
from pathlib import Path

from tests.e2e.bugfix import OPS, make_repository
from tests.soak.faults import faulty
from tests.soak.missions import CONFIG, Found, mend_what_is_there
from tests.wire.server import WireServer
from tori_tui.bootstrap import SessionOptions, open_session, real_surroundings
from tori_tui.config import load_settings
from tori_tui.domain.commands import InterruptRun, SubmitPrompt
from tori_tui.domain.events import RunStatusChanged
from tori_tui.domain.state import reduce_all
from tori_tui.runtime.bus import Published, Subscription
from tori_tui.runtime.session import Session
from tori_tui.trace.store import JsonlTraceStore

ENDED = ("done", "failed", "incomplete", "interrupted", "limit")

WARM_UP_MISSIONS = 5

GROWTH_LIMIT_MB_PER_MISSION = 0.15
"""The log, which stays whole in memory, takes 0.1 MB of them: some 25 records with what they are read for."""

SLACK_MB = 4.0
"""What the allocator may keep or give back."""

RUN_LIMIT_S = 120


async def run_steadily(rng: random.Random, seconds: float, found: Found) -> list[float]:
    """Run missions in one session for that long; returns the resident memory after each, in MB."""
    with tempfile.TemporaryDirectory(prefix="tori-steady-") as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        (home / "config" / "tori").mkdir(parents=True)
        (home / "config" / "tori" / "config.toml").write_text(CONFIG)
        make_repository(work)
        async with WireServer(faulty(mend_what_is_there(work), rng)) as server:
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "OPENAI_BASE_URL": server.openai_url,
                "OPENAI_API_KEY": "test-key",
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_STATE_HOME": str(home / "state"),
            }
            settings = load_settings(environ, work).settings
            options = SessionOptions(cwd=work, model="openai-chat/m", mode="auto")
            session = await open_session(settings, options, real_surroundings(environ))
            serving = asyncio.create_task(session.run())
            try:
                sizes = await _missions(session, server, work, rng, seconds, found)
            finally:
                await session.close()
                await serving
        with JsonlTraceStore.open(session.directory, read_only=True) as store:
            if reduce_all(store.records()) != session.state:
                found.wrong.append("steady: the records do not come to the live state")
    if (grown := growth_mb(sizes)) > SLACK_MB + GROWTH_LIMIT_MB_PER_MISSION * len(sizes):
        found.wrong.append(f"steady: memory grew by {grown:.1f} MB over {len(sizes)} missions")
    return sizes


def growth_mb(sizes: list[float]) -> float:
    """Return how much more the last missions left than the first ones behind the warm-up."""
    steady = sizes[WARM_UP_MISSIONS:]
    quarter = max(1, len(steady) // 4)
    return min(steady[-quarter:]) - min(steady[:quarter]) if len(steady) >= 8 else 0.0


async def _missions(
    session: Session, server: WireServer, work: Path, rng: random.Random, seconds: float, found: Found
) -> list[float]:
    sizes: list[float] = []
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    events = session.subscribe()
    while clock() < until:
        (work / "calc" / "ops.py").write_text(OPS)
        session.send(SubmitPrompt(f"Mend it again, number {len(sizes)}"))
        if rng.random() < 0.3:
            asyncio.get_running_loop().call_later(rng.uniform(0, 2), session.send, InterruptRun())
        await _ended(events)
        found.n_missions += 1
        found.n_requests += len(server.requests)
        found.wrong += [f"steady: invalid request: {violation}" for violation in server.violations]
        # The server lives in this process: what it keeps is not tori's.
        server.requests.clear()
        gc.collect()
        sizes.append(_resident_mb())
    return sizes


async def _ended(events: Subscription) -> None:
    async with asyncio.timeout(RUN_LIMIT_S):
        async for item in events:
            event = item.record.event if isinstance(item, Published) else None
            if isinstance(event, RunStatusChanged) and event.status in ENDED:
                return


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576


__all__ = ["growth_mb", "run_steadily"]
