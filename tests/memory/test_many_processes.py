from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.memory.redis_server import RedisServer
from tori_tui.memory.base import MemoryStore
from tori_tui.memory.late import make_store

N_WRITERS = 4
N_ENTRIES = int(os.environ.get("TORI_TEST_ENTRIES", "150"))
"""Of each writer. Every entry is synced to the disk: 10,000 take minutes, too long for every run."""

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("shared_redis").url)
    return str(request.param)


@contextmanager
def writers(
    url: str, folder: Path, count: int, n_writers: int = N_WRITERS
) -> Iterator[list[subprocess.Popen[str]]]:
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.memory.writing",
                url,
                folder,
                folder / "state",
                f"w{n}",
                str(count),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(n_writers)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


async def assert_holds(store: MemoryStore, acknowledged: dict[str, list[int]]) -> None:
    kept = {fact.text for fact in await store.search("", 1_000_000)}
    for name, numbers in acknowledged.items():
        values = dict(await store.values(f"_session_{name}"))
        for number in numbers:
            if number % 10 == 9:
                assert values[f"key {number}"] == f"value {number}"
            else:
                assert f"{name} learned number {number}" in kept


@pytest.mark.timeout(3_600)
async def test_four_processes_write_without_a_loss(url: str, tmp_path: Path) -> None:
    began_s = time.monotonic()
    with writers(url, tmp_path, N_ENTRIES) as processes:
        said = [process.communicate()[0].splitlines() for process in processes]
    took_s = time.monotonic() - began_s
    print(f"{url.partition(':')[0]}: {N_WRITERS} × {N_ENTRIES} in {took_s:.1f} s")
    assert [lines[-1:] for lines in said] == [[str(N_ENTRIES - 1)]] * N_WRITERS
    store = make_store(url, tmp_path, tmp_path / "state")
    await assert_holds(store, {f"w{n}": list(range(N_ENTRIES)) for n in range(N_WRITERS)})
    n_facts = N_WRITERS * (N_ENTRIES - N_ENTRIES // 10)
    assert await store.count() == n_facts
    assert len({fact.id for fact in await store.search("learned", 1_000_000)}) == n_facts
    assert [key for key, _ in await store.values("_session_w0")] == [
        f"key {n}" for n in range(9, N_ENTRIES, 10)
    ]
    await store.close()


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(url: str, tmp_path: Path) -> None:
    with writers(url, tmp_path, 1_000_000, n_writers=2) as processes:
        acknowledged: dict[str, list[int]] = {}
        for n, process in enumerate(processes):
            assert process.stdout is not None
            first = [int(process.stdout.readline()) for _ in range(20)]
            process.send_signal(signal.SIGKILL)
            rest = process.communicate()[0]
            acknowledged[f"w{n}"] = [*first, *map(int, rest[: rest.rfind("\n") + 1].split())]
    store = make_store(url, tmp_path, tmp_path / "state")
    await assert_holds(store, acknowledged)
    await store.close()


@pytest.mark.needs("redis-server")
async def test_a_server_that_dies_in_the_middle_loses_nothing_and_holds_nobody_up(
    redis: RedisServer, tmp_path: Path
) -> None:
    with writers(redis.url, tmp_path, 1_000_000) as processes:
        firsts = []
        for process in processes:
            assert process.stdout is not None
            firsts.append([int(process.stdout.readline()) for _ in range(10)])
        redis.kill()
        killed_s = time.monotonic()
        rests = [process.communicate()[0].split("\n")[:-1] for process in processes]
        assert time.monotonic() - killed_s < 10
    assert all(rest[-1].startswith("failed The memory on unix://") for rest in rests)
    redis.start()
    store = make_store(redis.url, tmp_path, tmp_path / "state")
    acknowledged = {f"w{n}": [*firsts[n], *map(int, rests[n][:-1])] for n in range(N_WRITERS)}
    await assert_holds(store, acknowledged)
    await store.close()
