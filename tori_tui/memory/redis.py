"""Memory on a Redis server, shared by processes and machines.

Must not wait long for a server that is gone, nor tell its password.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Final, TypeVar, cast

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import RedisError

from tori_tui.domain.ids import FactId
from tori_tui.domain.memory import Fact, NewFact
from tori_tui.memory.base import MemoryFailed, Remembered, as_fact
from tori_tui.memory.words import Wanted, as_ascii, terms_of, wanted_terms

CONNECT_LIMIT_S: Final = 2.0
ANSWER_LIMIT_S: Final = 3.0
"""Of one command; a server on the other side of the world answers in a third of a second."""

OPERATION_LIMIT_S: Final = 6.0
"""Of everything together: the longest that a call is held up."""

RECONNECTS: Final = 1
"""A kept connection may have died unseen. A second try is safe: every step has the same end if repeated."""

LAYOUT: Final = "1"
"""Part of every key, so that a later way of keeping things does not meet this one's."""

_ADD: Final = """
local at, text_id, body = ARGV[1], ARGV[2], ARGV[3]
local known = redis.call('HGET', at .. 'texts', text_id)
if known then return {known, redis.call('HGET', at .. 'facts', known), 0} end
local id = tostring(redis.call('INCR', at .. 'last'))
redis.call('HSET', at .. 'facts', id, body)
redis.call('HSET', at .. 'texts', text_id, id)
redis.call('ZADD', at .. 'ids', id, id)
for i = 4, #ARGV do
    redis.call('ZADD', at .. 'terms', 0, ARGV[i])
    redis.call('SADD', at .. 'term:' .. ARGV[i], id)
end
return {id, body, 1}
"""

_FORGET: Final = """
local at, id, text_id = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HDEL', at .. 'facts', id) == 0 then return 0 end
redis.call('HDEL', at .. 'texts', text_id)
redis.call('ZREM', at .. 'ids', id)
for i = 4, #ARGV do
    redis.call('SREM', at .. 'term:' .. ARGV[i], id)
    if redis.call('EXISTS', at .. 'term:' .. ARGV[i]) == 0 then redis.call('ZREM', at .. 'terms', ARGV[i]) end
end
return 1
"""

_SET_VALUES: Final = """
local values, order = ARGV[1] .. 'values:' .. ARGV[2], ARGV[1] .. 'order:' .. ARGV[2]
if ARGV[3] == 'anew' then redis.call('DEL', values, order) end
for i = 4, #ARGV, 2 do
    if redis.call('HSET', values, ARGV[i], ARGV[i + 1]) == 1 then
        local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
        redis.call('ZADD', order, (tonumber(last[2]) or 0) + 1, ARGV[i])
    end
end
return 1
"""

_DELETE_VALUE: Final = """
redis.call('ZREM', ARGV[1] .. 'order:' .. ARGV[2], ARGV[3])
return redis.call('HDEL', ARGV[1] .. 'values:' .. ARGV[2], ARGV[3])
"""

_VALUES: Final = """
local found = {}
for _, key in ipairs(redis.call('ZRANGE', ARGV[1] .. 'order:' .. ARGV[2], 0, -1)) do
    found[#found + 1] = key
    found[#found + 1] = redis.call('HGET', ARGV[1] .. 'values:' .. ARGV[2], key)
end
return found
"""

T = TypeVar("T")

_decode_fact: Final = msgspec.json.Decoder(NewFact).decode


class RedisStore:
    """A `MemoryStore` on a server. What is kept when the server itself dies is the server's setting.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        project: Tells this project from others on the server.

    Raises:
        MemoryFailed: That is no such URL.
    """

    def __init__(self, url: str, project: str) -> None:
        self._name = _without_password(url)
        # In braces: on a cluster, all keys of a project lie together.
        self._at = f"tori:{LAYOUT}:{{{project}}}:"
        try:
            self._client: Redis = Redis.from_url(
                url,
                decode_responses=True,
                socket_connect_timeout=CONNECT_LIMIT_S,
                socket_timeout=ANSWER_LIMIT_S,
                retry=Retry(NoBackoff(), RECONNECTS, supported_errors=(NotConnected,)),
            )
        except ValueError as error:
            # The error's own words may repeat a part of the password.
            hint = "Write redis://HOST:PORT/N; in a password write / @ : as %2F %40 %3A."
            raise MemoryFailed(f"[memory] url {self._name} is no address of a server.", hint) from error

    async def add(self, new: NewFact) -> Remembered:
        """Remember a fact."""
        body = msgspec.json.encode(new).decode()
        return await self._answered(self._add(new, body))

    async def search(self, words: str, limit: int) -> tuple[Fact, ...]:
        """Return facts that hold all the words, newest first."""
        wanted = wanted_terms(words)
        if words.strip() and not wanted:
            return ()
        return await self._answered(self._search(wanted, limit))

    async def get(self, fact_id: FactId) -> Fact | None:
        """Return a fact by its id."""
        found = await self._answered(self._facts_of([fact_id]))
        return found[0] if found else None

    async def forget(self, fact_id: FactId) -> bool:
        """Remove a fact and every trace of its words."""
        fact = await self.get(fact_id)
        if fact is None:
            return False
        return bool(await self._run(int, _FORGET, fact_id, _text_id(fact.text), *_index(fact.text)))

    async def count(self) -> int:
        """Return how many facts there are."""
        return await self._answered(self._ask(int, "HLEN", self._at + "facts"))

    async def set_value(self, namespace: str, key: str, value: str) -> None:
        """Keep a value."""
        await self._run(int, _SET_VALUES, namespace, "", key, value)

    async def value(self, namespace: str, key: str) -> str | None:
        """Return a value, or None."""
        found = await self._answered(
            self._ask(list[str | None], "HMGET", f"{self._at}values:{namespace}", key)
        )
        return found[0]

    async def delete_value(self, namespace: str, key: str) -> bool:
        """Remove a key."""
        return bool(await self._run(int, _DELETE_VALUE, namespace, key))

    async def values(self, namespace: str) -> tuple[tuple[str, str], ...]:
        """Return all keys with their values, in order."""
        flat = await self._run(list[str], _VALUES, namespace)
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    async def replace_values(self, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
        """Let the namespace hold exactly these."""
        await self._run(int, _SET_VALUES, namespace, "anew", *(part for item in items for part in item))

    async def close(self) -> None:
        """Let go of the connections."""
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                await self._client.aclose()
        except (RedisError, OSError, TimeoutError):
            return  # it is gone already

    async def _add(self, new: NewFact, body: str) -> Remembered:
        fact_id, kept, is_new = await self._ask(
            tuple[FactId, str, int], "EVAL", _ADD, 0, self._at, _text_id(new.text), body, *_index(new.text)
        )
        return Remembered(as_fact(fact_id, _decode_fact(kept)), is_new=bool(is_new))

    async def _search(self, wanted: tuple[Wanted, ...], limit: int) -> tuple[Fact, ...]:
        if not wanted:
            return await self._facts_of(
                await self._ask(list[FactId], "ZREVRANGE", self._at + "ids", 0, limit - 1)
            )
        found: set[FactId] | None = None
        for each in wanted:
            ids = await self._ids_of(each)
            found = ids if found is None else found & ids
            if not found:
                return ()
        newest = sorted(found or (), key=int, reverse=True)[:limit]
        return await self._facts_of(newest)

    async def _ids_of(self, wanted: Wanted) -> set[FactId]:
        """Return the facts that have a word, or one that begins with it."""
        term = as_ascii(wanted.term)
        terms = [term]
        if wanted.is_beginning:
            # Behind every term that begins so: a letter that none of them has.
            terms = await self._ask(list[str], "ZRANGEBYLEX", self._at + "terms", f"[{term}", f"({term}g")
        if not terms:
            return set()
        return await self._ask(set[FactId], "SUNION", *(f"{self._at}term:{each}" for each in terms))

    async def _facts_of(self, ids: Sequence[FactId]) -> tuple[Fact, ...]:
        if not ids:
            return ()
        bodies = await self._ask(list[str | None], "HMGET", self._at + "facts", *ids)
        # One may have been forgotten since its id was found.
        return tuple(
            as_fact(fact_id, _decode_fact(body))
            for fact_id, body in zip(ids, bodies, strict=True)
            if body is not None
        )

    async def _run(self, shape: type[T], script: str, *arguments: str) -> T:
        """Run a script, which is one step for the server."""
        return await self._answered(self._ask(shape, "EVAL", script, 0, self._at, *arguments))

    async def _ask(self, shape: type[T], *command: str | int) -> T:
        # The client's own method has no types.
        execute = cast(Callable[..., Awaitable[object]], self._client.execute_command)
        return msgspec.convert(await execute(*command), shape)

    async def _answered(self, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(OPERATION_LIMIT_S):
                return await answer
        except (RedisError, OSError, TimeoutError) as error:
            reason = str(error).rstrip(".") or "it does not answer"
            raise MemoryFailed(
                f"The memory on {self._name} cannot be used: {reason}.",
                "Start the server again, or set [memory] url.",
            ) from error
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise MemoryFailed(
                f"The memory on {self._name} holds what tori did not write: {error}.",
                f"Look at the keys that begin with {self._at}",
            ) from error


def _index(text: str) -> tuple[str, ...]:
    return tuple(map(as_ascii, sorted(terms_of(text))))


def _text_id(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _without_password(url: str) -> str:
    """Return what may be told of the server's address."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


__all__ = ["RedisStore"]
