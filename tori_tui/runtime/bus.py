"""From the one writer to its many readers: snapshots and events, in order, in bounded space.

Must not change state, and must never make the writer wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.domain.events import (
    CallStreamed,
    Record,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    TransientEvent,
)
from tori_tui.domain.state import SessionState

QUEUE_LIMIT_ITEMS: Final = 4_096
"""What a reader may be behind. A record is about 1 KB, so a lagging reader holds a few MB."""

MERGED_LIMIT_CHARS: Final = 65_536
"""Deltas that wait are merged up to this size, so that merging stays linear."""


@dataclass(frozen=True, slots=True)
class Published:
    """A durable event and the state after it."""

    record: Record
    state: SessionState


@dataclass(frozen=True, slots=True)
class Resync:
    """The reader lagged and its queue was dropped: go on from this state."""

    state: SessionState


BusItem = Published | Resync | TransientEvent


class Subscription(AsyncIterator[BusItem]):
    """What one reader gets: a snapshot, then everything that happens after it, in order.

    Registered by `Bus.subscribe` itself, so nothing between the call and the first `async for` is lost.
    """

    def __init__(self, bus: Bus, snapshot: SessionState, limit_items: int) -> None:
        self.snapshot = snapshot
        """The state at the moment of subscribing."""
        self._bus = bus
        self._limit_items = limit_items
        self._queue: deque[BusItem] = deque()
        self._has_lagged = False
        self._is_closed = False
        self._ready = asyncio.Event()

    def close(self) -> None:
        """Stop reading; what is queued is dropped and the iteration ends."""
        self._is_closed = True
        self._queue.clear()
        self._has_lagged = False
        self._bus.forget(self)
        self._ready.set()

    def finish(self) -> None:
        """End the iteration after what is queued; the bus calls it when it closes."""
        self._is_closed = True
        self._ready.set()

    def put(self, item: BusItem) -> None:
        """Queue an item. Called by the bus only; never waits."""
        if self._is_closed or self._has_lagged:
            return
        if self._queue and (merged := merge(self._queue[-1], item)) is not None:
            self._queue[-1] = merged
        elif len(self._queue) >= self._limit_items:
            self._queue.clear()
            self._has_lagged = True
        else:
            self._queue.append(item)
        self._ready.set()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> BusItem:
        while True:
            if self._has_lagged:
                self._has_lagged = False
                return Resync(self._bus.state)
            if self._queue:
                return self._queue.popleft()
            if self._is_closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()


class Bus:
    """Hands every event to every subscription, in the order in which they happened."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        """The state after the newest durable event."""
        self._subscriptions: list[Subscription] = []

    def subscribe(self, limit_items: int = QUEUE_LIMIT_ITEMS) -> Subscription:
        """Register a reader and return its subscription with the present state."""
        subscription = Subscription(self, self.state, limit_items)
        self._subscriptions.append(subscription)
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Stop handing events to a subscription."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish(self, record: Record, state: SessionState) -> None:
        """Announce a durable event that has been recorded and applied."""
        self.state = state
        self._put(Published(record, state))

    def announce(self, event: TransientEvent) -> None:
        """Announce something that is shown and not kept."""
        self._put(event)

    def close(self) -> None:
        """End every subscription after what it has queued."""
        for subscription in tuple(self._subscriptions):
            subscription.finish()
        self._subscriptions.clear()

    def _put(self, item: BusItem) -> None:
        for subscription in self._subscriptions:
            subscription.put(item)


def merge(last: BusItem, new: BusItem) -> BusItem | None:
    """Return both deltas as one, or None where they do not continue each other."""
    match last, new:
        case TextStreamed(), TextStreamed() if last.context == new.context and _has_room(last.text):
            return replace(last, text=last.text + new.text)
        case ThinkingStreamed(), ThinkingStreamed() if last.context == new.context and _has_room(last.text):
            return replace(last, text=last.text + new.text)
        case ToolOutputStreamed(), ToolOutputStreamed() if last.call_id == new.call_id and _has_room(
            last.text
        ):
            return replace(last, text=last.text + new.text)
        case CallStreamed(), CallStreamed() if _is_same_call(last, new) and _has_room(last.arguments):
            return replace(last, name=new.name or last.name, arguments=last.arguments + new.arguments)
        case _:
            return None


def _has_room(text: str) -> bool:
    return len(text) < MERGED_LIMIT_CHARS


def _is_same_call(last: CallStreamed, new: CallStreamed) -> bool:
    return (last.context, last.key) == (new.context, new.key)


__all__ = ["QUEUE_LIMIT_ITEMS", "Bus", "BusItem", "Published", "Resync", "Subscription", "merge"]
