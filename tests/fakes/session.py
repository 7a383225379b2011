"""A real session over a scripted model, in a directory of the test's own."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fakes.provider import Script, ScriptedCall, ScriptedProvider, ScriptedReply
from tori_tui.bootstrap import SessionOptions, Surroundings, open_session, real_surroundings
from tori_tui.config import FeedbackSettings, Settings
from tori_tui.domain.commands import Command, SubmitPrompt
from tori_tui.domain.events import DurableEvent, Record, RunStatusChanged, TransientEvent
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.providers.base import Provider
from tori_tui.providers.catalogue import profile_for
from tori_tui.runtime.bus import BusItem, Published, Resync, Subscription
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.session import Session
from tori_tui.trace.store import JsonlTraceStore, TraceStore

ENDED = ("done", "failed", "incomplete", "interrupted", "limit")
MODEL = "openai-chat/scripted"
LIMIT_S = 20

PLANTED_KEY = "sk-planted-SECRETKEY-0123456789abcdef"
"""In the environment of every session; must appear in no trace."""

WITHOUT_CLASSIFIER = Settings(feedback=FeedbackSettings(classifier="off"))
"""So that a script of replies is used up by turns alone."""


def reply(text: str = "", **calls: object) -> ScriptedReply:
    """Write a reply: `reply("I look.", read_file={"path": "a"})`."""
    return ScriptedReply(text, tuple(scripted(name, arguments) for name, arguments in calls.items()))


def scripted(name: str, arguments: object) -> ScriptedCall:
    return ScriptedCall(name, json.dumps(arguments))


def surroundings_for(provider: Provider, home: Path) -> Surroundings:
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "OPENAI_API_KEY": PLANTED_KEY,
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }
    profile = replace(profile_for(MODEL), late_system=True)
    return replace(real_surroundings(environ), make_model=lambda _: (profile, provider))


@dataclass
class Driver:
    """Drives a session as a front end does, and keeps what was published."""

    session: Session
    subscription: Subscription
    items: list[BusItem] = field(default_factory=list)

    async def until_ended(self) -> SessionState:
        """Read until a run has ended and return the state."""
        while True:
            item = await self.next()
            event = item.record.event if isinstance(item, Published) else None
            if isinstance(event, RunStatusChanged) and event.status in ENDED:
                return item.state if isinstance(item, Published) else self.session.state

    async def until(self, kind: type[DurableEvent] | type[TransientEvent]) -> DurableEvent | TransientEvent:
        """Read until an event of that class and return it."""
        while True:
            item = await self.next()
            event = item.record.event if isinstance(item, Published) else item
            if isinstance(event, kind):
                assert not isinstance(event, Resync)
                return event

    async def next(self) -> BusItem:
        async with asyncio.timeout(LIMIT_S):
            item = await anext(self.subscription)
        self.items.append(item)
        return item

    async def run(self, command: Command | str) -> SessionState:
        self.session.send(SubmitPrompt(command) if isinstance(command, str) else command)
        return await self.until_ended()

    @property
    def events(self) -> list[DurableEvent]:
        return [item.record.event for item in self.items if isinstance(item, Published)]


@asynccontextmanager
async def driven(
    turns: Sequence[Script] | Provider,
    cwd: Path,
    *,
    settings: Settings | None = None,
    options: SessionOptions | None = None,
    wrap_store: Callable[[TraceStore], TraceStore] = lambda store: store,
    wrap_clock: Callable[[Clock], Clock] = lambda clock: clock,
) -> AsyncIterator[Driver]:
    """Open a session, serve it, and afterwards prove that its trace folds to its live state."""
    provider = ScriptedProvider(turns) if isinstance(turns, Sequence) else turns
    wanted = options or SessionOptions(cwd=cwd, model=MODEL, mode="auto")
    world = surroundings_for(provider, cwd.parent / f"{cwd.name}-home")
    world = replace(world, wrap_store=wrap_store, clock=wrap_clock(world.clock))
    session = await open_session(settings or WITHOUT_CLASSIFIER, wanted, world)
    driver = Driver(session, session.subscribe())
    serving = asyncio.create_task(session.run())
    # One step, so that the session serves before it may be closed.
    await asyncio.sleep(0)
    try:
        yield driver
    finally:
        await session.close()
        await serving
    assert reduce_all(records_of(session.directory)) == session.state


def records_of(directory: Path) -> list[Record]:
    with JsonlTraceStore.open(directory, read_only=True) as store:
        records = list(store.records())
        assert store.faults == ()
    return records
