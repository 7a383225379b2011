from __future__ import annotations

from tests.fakes.clock import FakeClock
from tests.fakes.messages import assistant, user
from tests.fakes.store import FakeStore
from tori_tui.domain.events import MessageAdded, MessagesFolded
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.messages import Message
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.corrections import Corrections
from tori_tui.runtime.recorder import Recorder


def recorder_on(state: SessionState, store: FakeStore) -> Recorder:
    return Recorder(store, Bus(state), state, FakeClock().as_clock())


def shown(recorder: Recorder) -> list[str]:
    return [entry.message.text for entry in recorder.state.view(MAIN_CONTEXT).entries]


def said(message: Message) -> MessageAdded:
    return MessageAdded(message)


async def test_an_exchange_leaves_the_view_and_stays_in_the_trace() -> None:
    store = FakeStore()
    recorder = recorder_on(SessionState(), store)
    await recorder.record(said(user("go")))
    corrections = Corrections(recorder)
    await corrections.add("Sure!", "", "`action` is missing", "Again.")
    assert shown(recorder) == ["go", "Sure!", "That answer was not understood: `action` is missing. Again."]
    await corrections.remove()
    await recorder.record(said(assistant("right")))
    assert shown(recorder) == ["go", "right"]
    folded = [record.event for record in store.records() if isinstance(record.event, MessagesFolded)]
    assert [(fold.reason, fold.rule) for fold in folded] == [
        ("correction: `action` is missing", "correction")
    ]
    assert "Sure!" in [entry.message.text for entry in recorder.state.log]


async def test_what_a_kill_left_in_the_view_is_removed_by_the_next_process() -> None:
    store = FakeStore()
    first = recorder_on(SessionState(), store)
    await first.record(said(user("go")))
    for text in ("", "Sure!"):
        await Corrections(first).add(text, "", "no JSON", "Again.")
    second = recorder_on(reduce_all(store.records()), store)
    await Corrections(second).remove()
    assert shown(second) == ["go"]
    n_records = len(store.lines)
    await Corrections(second).remove()
    assert len(store.lines) == n_records
