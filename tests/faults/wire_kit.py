"""A whole session over a scripted server, whose pauses between tries are written down and not slept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fakes.session import Driver, driven
from tests.providers.serving import provider_at
from tests.wire.answers import Script
from tests.wire.server import WireServer
from tori_tui.domain.events import RetryScheduled
from tori_tui.domain.messages import Message
from tori_tui.runtime.clock import Clock


@dataclass
class Talk:
    """A session, its server, and the pauses that it wanted."""

    server: WireServer
    driver: Driver
    root: Path
    pauses_s: list[float] = field(default_factory=list)

    @property
    def retries(self) -> list[RetryScheduled]:
        return [item for item in self.driver.items if isinstance(item, RetryScheduled)]

    @property
    def messages(self) -> list[Message]:
        return [entry.message for entry in self.driver.session.state.log]

    @property
    def results(self) -> list[str]:
        return [message.text for message in self.messages if message.role == "tool"]


@asynccontextmanager
async def talking(
    folder: Path,
    script: Script,
    *,
    protocol: str = "openai-chat",
    idle_timeout_s: float = 5.0,
    sleeps: bool = False,
) -> AsyncIterator[Talk]:
    """Open a session; a file `a.txt` and one `b.txt` are in its tree."""
    root = folder / "tree"
    root.mkdir()
    (root / "a.txt").write_text("content of a\n")
    (root / "b.txt").write_text("content of b\n")
    pauses_s: list[float] = []

    def hasty(clock: Clock) -> Clock:
        async def sleep(seconds: float) -> None:
            pauses_s.append(seconds)
            await (clock.sleep(seconds) if sleeps else asyncio.sleep(0))

        return replace(clock, sleep=sleep)

    async with WireServer(script) as server:
        provider = provider_at(protocol, server, idle_timeout_s=idle_timeout_s)
        async with driven(provider, root, wrap_clock=hasty) as driver:
            yield Talk(server, driver, root, pauses_s)


__all__ = ["Talk", "talking"]
