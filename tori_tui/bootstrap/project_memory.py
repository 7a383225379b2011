"""The project's memory of one session: neither its code nor its file is loaded before it is used.

Must not decide which memory it is; `config.project_memory` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from tori_tui.domain.events import NoticeShown

if TYPE_CHECKING:
    from pathlib import Path

    from tori_tui.domain.commands import ForgetFact, SearchMemory
    from tori_tui.memory.late import LateStore
    from tori_tui.runtime.project_facts import ProjectFacts
    from tori_tui.runtime.recorder import Recorder


class _MemoryModule(Protocol):
    def project_memory(
        self, url: str, root: Path, state_dir: Path, tell: Callable[[str], None]
    ) -> LateStore: ...


class _FactsModule(Protocol):
    def ProjectFacts(self, recorder: Recorder, store: LateStore) -> ProjectFacts: ...


class ProjectMemory:
    """The store for the tools, and the user's wishes, one after the other.

    Args:
        recorder: Where a memory that begins to fail is told once.
        url: `[memory] url`.
        root: The work tree.
        state_dir: `$XDG_STATE_HOME/tori`.
    """

    def __init__(self, recorder: Recorder, url: str, root: Path, state_dir: Path) -> None:
        self._recorder = recorder
        self._url = url
        self._root = root
        self._state_dir = state_dir
        self._store: LateStore | None = None
        self._wishes: asyncio.Queue[SearchMemory | ForgetFact] = asyncio.Queue()

    def store(self) -> LateStore:
        """Return the store; it opens itself when it is used."""
        if self._store is None:
            module = cast(_MemoryModule, import_module("tori_tui.config.project_memory"))
            self._store = module.project_memory(self._url, self._root, self._state_dir, self._tell)
        return self._store

    def want(self, wish: SearchMemory | ForgetFact) -> None:
        """Take a wish of the user's; what comes of it is told. Never waits: a server may."""
        self._wishes.put_nowait(wish)

    async def serve(self) -> None:
        """Follow the wishes until cancelled."""
        while True:
            wish = await self._wishes.get()
            module = cast(_FactsModule, import_module("tori_tui.runtime.project_facts"))
            await module.ProjectFacts(self._recorder, self.store()).follow(wish)

    async def close(self) -> None:
        """Let go of what was opened."""
        if self._store is not None:
            await self._store.close()

    def _tell(self, text: str) -> None:
        self._recorder.announce(NoticeShown(text, "warning"))


__all__ = ["ProjectMemory"]
