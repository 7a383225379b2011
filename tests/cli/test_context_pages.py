from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.cli.test_context import demo
from tori_tui.cli.context_pages import page_of_records, page_of_trace
from tori_tui.cli.show_context import section_text, window_tokens
from tori_tui.context.inspector import TraceHistory, inspect, totals
from tori_tui.domain.events import Record
from tori_tui.domain.inspection import SentRequest
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore

__all__ = ["demo"]

NEAR = 0.1
"""The next request is told before the provider has counted it."""


def records_of(trace: Path) -> tuple[Record, ...]:
    with JsonlTraceStore.open(trace, read_only=True) as store:
        return tuple(store.records())


def shape(request: SentRequest) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(part.name, part.digest, part.seqs) for part in request.parts]


def test_what_is_told_of_the_next_request_is_what_is_sent_then(demo: Path) -> None:
    records = records_of(demo)
    history, outputs = TraceHistory.of(records), Outputs(demo / "outputs")
    compared = 0
    for at in history.turns[1:]:
        if history.turn(at).context != history.turn(history.turns[0]).context:
            continue
        sent = inspect(history, at, lambda digest: section_text(outputs, digest), 128_000)
        told = page_of_records(records[:at], demo, window_tokens, records[at].at).request
        assert told is not None
        assert shape(told) == shape(sent)
        assert [part.is_cached for part in told.parts] == [part.is_cached for part in sent.parts]
        assert abs(told.tokens - sent.tokens) <= NEAR * sent.tokens
        assert told.turn.number == sent.turn.number
        compared += 1
    assert compared > 3


def test_the_sums_are_those_of_the_command_line(demo: Path) -> None:
    records = records_of(demo)
    page = page_of_trace(demo, len(records) + 1, window_tokens, records[-1].at)
    assert page is not None
    assert page.totals == totals(TraceHistory.of(records))
    assert page.window_tokens == window_tokens(page.request.turn.model if page.request else "")


def test_a_cache_that_has_gone_cold_holds_nothing(demo: Path) -> None:
    records = records_of(demo)
    later = records[-1].at + timedelta(hours=1)
    request = page_of_records(records, demo, window_tokens, later).request
    assert request is not None
    assert request.is_cold
    assert request.cacheable_tokens == 0


def test_before_the_first_request_there_is_nothing_to_tell(demo: Path) -> None:
    records = records_of(demo)
    assert page_of_records(records[:2], demo, window_tokens, records[0].at).request is None
    assert page_of_trace(None, 1, window_tokens, records[0].at) is None
    assert page_of_trace(demo / "gone", 1, window_tokens, records[0].at) is None
