from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from rich.text import Text

from tests.cli.test_context import context, demo
from tori_tui.cli.context_pages import ContextPages, page_of_records
from tori_tui.cli.show_context import section_text, window_tokens
from tori_tui.context.inspector import TraceHistory, inspect, totals
from tori_tui.domain.events import Record
from tori_tui.domain.inspection import SentPart, SentRequest
from tori_tui.render.amounts import shown_tokens
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.ui.palette import palette_of
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.widgets.context_pane import _row, page_lines

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
    page = ContextPages(lambda: demo, window_tokens).page(records[-1].at)
    assert page is not None
    assert page.totals == totals(TraceHistory.of(records))
    assert page.window_tokens == window_tokens(page.request.turn.model if page.request else "")


def test_the_pane_shows_the_figures_that_the_command_line_prints(demo: Path) -> None:
    records = records_of(demo)
    palette = palette_of(load_theme("dark", theme_directories({"HOME": "/nonexistent"})))
    (printed,) = json.loads(context(demo, "--json", "--turn", "9"))["requests"]
    at = TraceHistory.of(records).index_of(9)
    assert at is not None
    page = page_of_records(records[:at], demo, window_tokens, records[at].at)
    assert page.request is not None
    lines = page_lines(page, 80, palette)
    rows = [
        _row(line, page.request.tokens, 80, palette).plain for line in lines if isinstance(line, SentPart)
    ]
    assert [row[0] for row in rows] == ["=" if s["is_cached"] else "+" for s in printed["sections"]]
    assert [row.split()[3] for row in rows] == [s["name"] for s in printed["sections"]]
    for row, section in zip(rows, printed["sections"], strict=True):
        assert abs(int(row.split()[1].replace(",", "")) - section["tokens"]) <= NEAR * section["tokens"] + 1
        assert abs(int(row.split()[2][:-1]) - 100 * section["share"]) <= 1
    whole = page_of_records(records, demo, window_tokens, records[-1].at)
    sums = json.loads(context(demo, "--json"))["totals"]
    told = " ".join(line.plain for line in page_lines(whole, 400, palette) if isinstance(line, Text))
    assert f"So far: {sums['n_turns']} requests, {shown_tokens(sums['input_tokens'])} in" in told
    cached, cacheable = shown_tokens(sums["cached_tokens"]), shown_tokens(sums["cacheable_tokens"])
    assert f"Cache: saved {cached} of {cacheable}" in told
    assert "Rewritten before turn 7: goal 2.1 abandoned" in told


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
    assert ContextPages(lambda: None, window_tokens).page(records[0].at) is None
    assert ContextPages(lambda: demo / "gone", window_tokens).page(records[0].at) is None


def test_a_page_of_a_session_that_goes_on_is_that_of_its_records(demo: Path, tmp_path: Path) -> None:
    records = records_of(demo)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "outputs").symlink_to(demo / "outputs")
    pages = ContextPages(lambda: tmp_path / "t", window_tokens)
    with JsonlTraceStore.open(tmp_path / "t") as store:
        for end, record in enumerate(records, 1):
            store.append(record)
            if end % 3 == 0 or end == len(records):
                whole = page_of_records(records[:end], demo, window_tokens, record.at)
                assert pages.page(record.at) == whole
