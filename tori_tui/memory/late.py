"""The project's memory, opened when it is first used: it must not slow the start of a session.

Must not import a backend at its top, nor fail at the start: what is wrong is told by the first use.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, TypeVar, cast

from tori_tui.domain.ids import FactId
from tori_tui.domain.memory import Fact, NewFact
from tori_tui.domain.plain_text import mend, mended
from tori_tui.memory.base import MemoryFailed, MemoryStore, Remembered

FOLDER_NAME: Final = "memory"
"""In `$XDG_STATE_HOME/tori`."""

REDIS_SCHEMES: Final = ("redis://", "rediss://", "unix://")

NAME_LIMIT_CHARS: Final = 40

T = TypeVar("T")


class LateStore:
    """A `MemoryStore` that becomes what the configuration names.

    Args:
        make: Makes the store; runs in a thread, as a client library may be large.
        tell: Is told the first failure after each success, so that a dead server is one notice.
    """

    def __init__(self, make: Callable[[], MemoryStore], tell: Callable[[str], None] = lambda _: None) -> None:
        self._make = make
        self._tell = tell
        self._store: MemoryStore | None = None
        self._making = asyncio.Lock()
        self._is_failing = False

    async def add(self, new: NewFact) -> Remembered:
        """Remember a fact."""
        return await self._with(lambda store: store.add(mended(new)))

    async def search(self, words: str, limit: int) -> tuple[Fact, ...]:
        """Return facts that hold all the words, newest first."""
        return await self._with(lambda store: store.search(words, limit))

    async def get(self, fact_id: FactId) -> Fact | None:
        """Return a fact by its id."""
        return await self._with(lambda store: store.get(fact_id))

    async def forget(self, fact_id: FactId) -> bool:
        """Remove a fact."""
        return await self._with(lambda store: store.forget(fact_id))

    async def count(self) -> int:
        """Return how many facts there are."""
        return await self._with(lambda store: store.count())

    async def set_value(self, namespace: str, key: str, value: str) -> None:
        """Keep a value."""
        await self._with(lambda store: store.set_value(namespace, mend(key), mend(value)))

    async def value(self, namespace: str, key: str) -> str | None:
        """Return a value, or None."""
        return await self._with(lambda store: store.value(namespace, mend(key)))

    async def delete_value(self, namespace: str, key: str) -> bool:
        """Remove a key."""
        return await self._with(lambda store: store.delete_value(namespace, mend(key)))

    async def values(self, namespace: str) -> tuple[tuple[str, str], ...]:
        """Return all keys with their values, in order."""
        return await self._with(lambda store: store.values(namespace))

    async def replace_values(self, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
        """Let the namespace hold exactly these."""
        await self._with(lambda store: store.replace_values(namespace, mended(items)))

    async def close(self) -> None:
        """Let go of what was opened."""
        if self._store is not None:
            await self._store.close()

    async def _with(self, use: Callable[[MemoryStore], Awaitable[T]]) -> T:
        try:
            result = await use(await self._made())
        except MemoryFailed as failure:
            if not self._is_failing:
                self._tell(str(failure))
            self._is_failing = True
            raise
        self._is_failing = False
        return result

    async def _made(self) -> MemoryStore:
        async with self._making:
            if self._store is None:
                self._store = await asyncio.to_thread(self._make)
            return self._store


class _InMemoryModule(Protocol):
    def InMemoryStore(self) -> MemoryStore: ...


class _SqliteModule(Protocol):
    def SqliteStore(self, path: Path) -> MemoryStore: ...


class _RedisModule(Protocol):
    def RedisStore(self, url: str, project: str) -> MemoryStore: ...


def make_store(url: str, root: Path, state_dir: Path, origin: str = "") -> MemoryStore:
    """Return the store that `[memory] url` names; nothing is opened or connected yet.

    Args:
        url: `sqlite`, `memory`, or a Redis URL.
        root: The work tree: the project of a file on this machine.
        state_dir: `$XDG_STATE_HOME/tori`.
        origin: Where the project's repository comes from: its name on a server, which sees it from several
            machines and folders; empty where nothing tells.

    Raises:
        MemoryFailed: The URL is none of these, or the library for it is not installed.
    """
    if url == "memory":
        return cast(_InMemoryModule, import_module("tori_tui.memory.in_memory")).InMemoryStore()
    try:
        if url == "sqlite":
            sqlite = cast(_SqliteModule, import_module("tori_tui.memory.sqlite"))
            return sqlite.SqliteStore(memory_path(root, state_dir))
        if url.startswith(REDIS_SCHEMES):
            redis = cast(_RedisModule, import_module("tori_tui.memory.redis"))
            return redis.RedisStore(url, origin or str(root.resolve()))
    except ModuleNotFoundError as error:
        hint = "Install it: pip install 'tori-tui[redis]'" if error.name == "redis" else ""
        raise MemoryFailed(f"[memory] url needs the module {error.name}, which is missing.", hint) from error
    raise MemoryFailed(
        f"[memory] url is neither of sqlite, memory and redis://HOST:PORT/N: {url.partition(':')[0]!r}.",
        "Mend the configuration.",
    )


def memory_path(root: Path, state_dir: Path) -> Path:
    """Return the file of a project's facts: the folder's name for who looks, its path's hash for the rest."""
    real = root.resolve()
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", real.name)[:NAME_LIMIT_CHARS].strip(".-")
    return state_dir / FOLDER_NAME / f"{name or 'root'}-{digest}.sqlite3"


__all__ = ["LateStore", "make_store", "memory_path"]
