from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.memory.facts import fact
from tests.memory.redis_server import RedisServer
from tori_tui.memory.base import MemoryFailed
from tori_tui.memory.redis import RedisStore

pytestmark = pytest.mark.needs("redis-server")


async def failure_of(store: RedisStore) -> tuple[MemoryFailed, float]:
    began_s = time.monotonic()
    with pytest.raises(MemoryFailed) as failed:
        await store.add(fact("while the server is gone"))
    return failed.value, time.monotonic() - began_s


async def test_a_dead_server_is_told_at_once_and_reached_again_when_it_is_back(redis: RedisServer) -> None:
    store = RedisStore(redis.url, "p")
    added = await store.add(fact("acknowledged"))
    await store.set_value("n", "key", "value")
    redis.kill()
    failed, took_s = await failure_of(store)
    assert took_s < 1
    assert str(redis.socket_path) in failed.message
    assert "Start the server" in failed.hint
    redis.start()
    assert await store.get(added.fact.id) == added.fact
    assert await store.values("n") == (("key", "value"),)
    assert (await store.add(fact("more"))).is_new
    await store.close()


async def test_a_server_that_came_back_between_two_calls_is_not_noticed(redis: RedisServer) -> None:
    store = RedisStore(redis.url, "p")
    await store.add(fact("before"))
    redis.kill()
    redis.start()
    assert (await store.add(fact("after"))).is_new
    assert await store.count() == 2
    await store.close()


async def test_a_server_that_hangs_holds_a_call_up_for_seconds_at_most(redis: RedisServer) -> None:
    store = RedisStore(redis.url, "p")
    await store.add(fact("before"))
    redis.freeze()
    _, took_s = await failure_of(store)
    assert took_s < 7
    redis.thaw()
    assert await store.count() >= 1
    await store.close()


async def test_a_server_that_dies_under_a_call_ends_it(redis: RedisServer) -> None:
    store = RedisStore(redis.url, "p")
    await store.add(fact("before"))
    redis.freeze()
    call = asyncio.create_task(failure_of(store))
    await asyncio.sleep(0.1)
    redis.kill()
    _, took_s = await call
    assert took_s < 2
    await store.close()


async def test_nobody_at_the_address_is_told_without_the_password() -> None:
    store = RedisStore("redis://user:hunter2@127.0.0.1:1/0", "p")
    failed, took_s = await failure_of(store)
    assert took_s < 3
    assert "127.0.0.1:1" in failed.message
    assert "hunter2" not in str(failed)
    await store.close()


@pytest.mark.parametrize(
    "url", ["redis://host:port/0", "redis://[::1", "redis://me:hun/ter2@host/0", "redis://h?socket_timeout=z"]
)
def test_a_wrong_address_is_told(url: str) -> None:
    with pytest.raises(MemoryFailed, match="url") as failed:
        RedisStore(url, "p")
    assert "hun" not in str(failed.value)


async def test_projects_do_not_see_each_other(shared_redis: RedisServer) -> None:
    one, other = RedisStore(shared_redis.url, "one {x}"), RedisStore(shared_redis.url, "other")
    added = await one.add(fact("of one"))
    await one.set_value("n", "k", "v")
    assert await other.search("", 9) == ()
    assert await other.get(added.fact.id) is None
    assert await other.values("n") == ()
    await one.close()
    await other.close()


async def test_what_another_program_wrote_there_is_told(redis: RedisServer) -> None:
    store = RedisStore(redis.url, "p")
    added = await store.add(fact("ours"))
    client: Redis = Redis.from_url(redis.url)
    for rubbish in (b"no json", b'{"text": 5}', b"\xff\xfe"):
        await client.hset("tori:1:{p}:facts", added.fact.id, rubbish)
        for step in (store.get(added.fact.id), store.search("", 5), store.add(fact("ours"))):
            with pytest.raises(MemoryFailed, match="did not write"):
                await step
    await client.delete("tori:1:{p}:facts")
    await client.set("tori:1:{p}:facts", "text")
    with pytest.raises(MemoryFailed, match="cannot be used"):
        await store.count()
    await client.aclose()
    await store.close()


async def test_what_is_forgotten_leaves_no_word_behind(redis: RedisServer, tmp_path: Path) -> None:
    store = RedisStore(redis.url, "p")
    added = await store.add(fact("the Mandrake grows"))
    await store.add(fact("the rest grows"))
    await store.forget(added.fact.id)
    assert await store.search("mandrake", 5) == ()
    assert [each.text for each in await store.search("grows", 5)] == ["the rest grows"]
    assert await store.search("mandra", 5) == ()
    await store.close()
