from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.memory.redis_server import RedisServer, running_redis
from tori_tui.memory.base import MemoryStore
from tori_tui.memory.late import make_store

BACKENDS = ("memory", "sqlite", "redis")


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    """One server for the tests that do not kill it; each has a project of its own."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs the program redis-server: make system")
    with running_redis() as server:
        yield server


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A server that the test may kill."""
    with running_redis() as server:
        yield server


@pytest_asyncio.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryStore]:
    url = str(request.param)
    if url == "redis":
        url = request.getfixturevalue("shared_redis").url
    made = make_store(url, tmp_path, tmp_path / "state")
    yield made
    await made.close()
