"""`tori run` in a process that kills itself (SIGKILL) at the N-th place where that could hurt.

    python -m tests.e2e.killable PLACE CWD [MISSION]

The places are counted: before and after each append, before, inside and after each sync. Every
record that a reader has seen is acknowledged by its number on stdout.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from tori_tui.bootstrap import SessionOptions, Surroundings, open_session, real_surroundings
from tori_tui.config import load_settings
from tori_tui.domain.commands import Command, ContinueRun, SubmitPrompt
from tori_tui.domain.events import Record, RunStatusChanged
from tori_tui.runtime.bus import Published
from tori_tui.runtime.runner import can_continue
from tori_tui.trace.store import TraceStore

ENDED = ("done", "failed", "incomplete", "interrupted", "limit")


class Fuse:
    """Counts places and kills the process at the chosen one."""

    def __init__(self, place: int) -> None:
        self._left = place

    def burn(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class KillableStore:
    """A store with a fuse before, inside and after everything it does."""

    def __init__(self, store: TraceStore, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    def append(self, record: Record) -> None:
        self._fuse.burn()
        self._store.append(record)
        self._fuse.burn()

    async def sync(self) -> None:
        self._fuse.burn()
        syncing = asyncio.create_task(self._store.sync())
        await asyncio.sleep(0)
        self._fuse.burn()
        await syncing
        self._fuse.burn()

    def close(self) -> None:
        self._store.close()


async def run(place: int, cwd: Path, mission: str | None) -> int:
    fuse = Fuse(place)
    surroundings: Surroundings = replace(
        real_surroundings(os.environ), wrap_store=lambda store: KillableStore(store, fuse)
    )
    loaded = load_settings(os.environ, cwd, model=None, mode="auto")
    options = SessionOptions(cwd=cwd, mode="auto", resume=None if mission else "")
    session = await open_session(loaded.settings, options, surroundings)
    if mission is None and not can_continue(session.state):
        await session.close()
        return 0
    subscription = session.subscribe()
    serving = asyncio.create_task(session.run())
    command: Command = SubmitPrompt(mission) if mission else ContinueRun()
    session.send(command)
    status = ""
    async for item in subscription:
        if isinstance(item, Published):
            print(item.record.seq, flush=True)
            if isinstance(item.record.event, RunStatusChanged):
                status = item.record.event.status
                if status in ENDED:
                    break
    await session.close()
    await serving
    return 0 if status == "done" else 1


if __name__ == "__main__":
    sys.exit(
        asyncio.run(run(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
    )
