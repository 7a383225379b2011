from __future__ import annotations

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.store import FakeStore
from tori_tui.domain.events import NoticeShown, RunStatusChanged
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.runtime.bus import Bus, Published
from tori_tui.runtime.recorder import DISK_RETRY_S, Recorder
from tori_tui.trace.errors import TraceDiskFull


def make() -> tuple[Recorder, FakeStore, Bus, FakeClock]:
    store, clock, state = FakeStore(), FakeClock(), SessionState()
    bus = Bus(state)
    return Recorder(store, bus, state, clock.as_clock()), store, bus, clock


def test_a_store_that_fails_leaves_state_and_readers_as_they_were() -> None:
    recorder, store, bus, _ = make()
    before = recorder.state
    store.full_for = 1
    with pytest.raises(TraceDiskFull):
        recorder.emit(RunStatusChanged("running"))
    assert recorder.state is before
    assert bus.state is before
    assert store.lines == []


async def test_a_full_disk_is_told_and_waited_out_and_nothing_is_lost() -> None:
    recorder, store, bus, clock = make()
    subscription = bus.subscribe()
    store.full_for = 3
    await recorder.record(RunStatusChanged("running"))
    bus.close()
    items = [item async for item in subscription]
    assert sum(isinstance(item, NoticeShown) for item in items) == 3
    assert isinstance(items[-1], Published)
    assert clock.slept_s == [DISK_RETRY_S] * 3
    assert recorder.state.status == "running"


def test_numbers_run_without_gaps_and_replay_equals_live() -> None:
    recorder, store, _, clock = make()
    for status in ("running", "waiting", "running", "done"):
        clock.advance(1)
        recorder.emit(RunStatusChanged(status))
    records = store.records()
    assert [record.seq for record in records] == [1, 2, 3, 4]
    assert reduce_all(records) == recorder.state
