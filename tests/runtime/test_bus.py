from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from tori_tui.domain.events import NoticeShown, Record, RunStatusChanged, TextStreamed
from tori_tui.domain.ids import MAIN_CONTEXT, ContextId, Seq
from tori_tui.domain.state import SessionState, reduce
from tori_tui.runtime.bus import Bus, BusItem, Published, Resync, Subscription

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def publish(bus: Bus, n: int) -> None:
    record = Record(Seq(n), NOW, RunStatusChanged("running", reason=str(n)))
    bus.publish(record, reduce(bus.state, record))


async def read_to_end(bus: Bus, subscription: Subscription) -> list[BusItem]:
    bus.close()
    return [item async for item in subscription]


async def test_a_reader_gets_everything_between_the_call_and_its_first_read() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe()
    publish(bus, 1)
    publish(bus, 2)
    items = await read_to_end(bus, subscription)
    assert [i.record.seq for i in items if isinstance(i, Published)] == [1, 2]


async def test_two_readers_see_the_same_order() -> None:
    bus = Bus(SessionState())
    one, two = bus.subscribe(), bus.subscribe()
    for n in range(1, 50):
        publish(bus, n)
        bus.announce(NoticeShown(str(n)))
    bus.close()
    assert [item async for item in one] == [item async for item in two]


async def test_waiting_deltas_of_one_context_are_merged_and_others_are_not() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe()
    for text in "abc":
        bus.announce(TextStreamed(MAIN_CONTEXT, text))
    bus.announce(TextStreamed(ContextId("plan"), "d"))
    items = await read_to_end(bus, subscription)
    assert items == [TextStreamed(MAIN_CONTEXT, "abc"), TextStreamed(ContextId("plan"), "d")]


async def test_merging_never_holds_more_than_a_bounded_piece() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe()
    for _ in range(100):
        bus.announce(TextStreamed(MAIN_CONTEXT, "x" * 10_000))
    items = await read_to_end(bus, subscription)
    texts = [item.text for item in items if isinstance(item, TextStreamed)]
    assert sum(map(len, texts)) == 1_000_000
    assert max(map(len, texts)) < 80_000


async def test_a_reader_that_lags_gets_one_resync_with_the_newest_state_and_then_goes_on() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe(limit_items=10)
    for n in range(1, 30):
        publish(bus, n)
    first = await anext(subscription)
    assert isinstance(first, Resync)
    assert first.state.next_seq == 30
    publish(bus, 30)
    second = await anext(subscription)
    assert isinstance(second, Published)
    assert second.record.seq == 30


async def test_a_reader_that_waits_is_woken() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe()
    reading = asyncio.ensure_future(anext(subscription))
    await asyncio.sleep(0)
    publish(bus, 1)
    item = await asyncio.wait_for(reading, 1)
    assert isinstance(item, Published)


async def test_closing_a_subscription_ends_it_and_frees_the_bus() -> None:
    bus = Bus(SessionState())
    subscription = bus.subscribe()
    publish(bus, 1)
    subscription.close()
    assert [item async for item in subscription] == []
    publish(bus, 2)
