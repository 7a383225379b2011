"""A session over a model server on a real socket, with the program's own adapters and configuration."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from tests.fakes.session import PLANTED_KEY, Driver, records_of
from tests.wire.answers import Answer, Script, WireCall, WireRefusal, WireReply, WireRequest, WireUsage
from tests.wire.server import WireServer
from tori_tui.bootstrap import SessionOptions, open_session, real_surroundings
from tori_tui.config import ContextSettings, FeedbackSettings, Settings
from tori_tui.domain.state import reduce_all

CHAT = "openai-chat/wire-model"
MESSAGES = "anthropic/claude-wire"

TOO_LARGE = WireRefusal(
    400,
    {
        "error": {
            "message": "This model's maximum context length is 1 token.",
            "code": "context_length_exceeded",
        }
    },
)


def call(name: str, **arguments: object) -> WireCall:
    return WireCall(name, arguments)


def does(*calls: WireCall, text: str = "", used: int | None = None, cached: int = 0) -> WireReply:
    """Write a reply with calls; `used` are the tokens that the server says the request took."""
    usage = None if used is None else WireUsage(used, 10, cached)
    return WireReply(text, calls, usage=usage)


def window(tokens: int, settings: Settings | None = None) -> Settings:
    base = settings or Settings(feedback=FeedbackSettings(classifier="off"))
    return replace(base, context=ContextSettings(window_tokens=tokens))


@asynccontextmanager
async def on_wire(
    script: Script,
    cwd: Path,
    *,
    model: str = CHAT,
    settings: Settings | None = None,
    options: SessionOptions | None = None,
    resume: str | None = None,
    waits: bool = True,
) -> AsyncIterator[tuple[WireServer, Driver]]:
    """Serve a session whose requests are valid and whose trace folds to its live state.

    Unless it `waits`, no try is put off.
    """
    home = cwd.parent / f"{cwd.name}-home"
    async with WireServer(script) as server:
        environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "OPENAI_API_KEY": PLANTED_KEY,
            "OPENAI_BASE_URL": server.openai_url,
            "ANTHROPIC_API_KEY": PLANTED_KEY,
            "ANTHROPIC_BASE_URL": server.url,
        }
        wanted = options or SessionOptions(cwd=cwd, model=model, mode="auto", resume=resume)
        world = real_surroundings(environ)
        if not waits:
            world = replace(world, clock=replace(world.clock, sleep=lambda _: asyncio.sleep(0)))
        session = await open_session(settings or window(100_000), wanted, world)
        driver = Driver(session, session.subscribe())
        serving = asyncio.create_task(session.run())
        await asyncio.sleep(0)
        try:
            yield server, driver
        finally:
            await session.close()
            await serving
    assert server.violations == []
    assert reduce_all(records_of(session.directory)) == session.state


__all__ = [
    "CHAT",
    "MESSAGES",
    "TOO_LARGE",
    "Answer",
    "WireCall",
    "WireRefusal",
    "WireReply",
    "WireRequest",
    "WireUsage",
    "call",
    "does",
    "on_wire",
    "window",
]
