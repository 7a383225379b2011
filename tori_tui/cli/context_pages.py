"""What the app's context pane shows: the numbers of `tori context`, for the request that comes next.

Must not change the trace; it is read beside the session that writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from tori_tui.cli.show_context import section_text
from tori_tui.context.inspector import TraceHistory, totals
from tori_tui.context.next_request import next_request
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import Record
from tori_tui.domain.inspection import ContextPage, SentRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.catalogue import profile_for
from tori_tui.runtime.pricing import cost_usd
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore


def page_of_trace(
    directory: Path | None, before: int, window_of: Callable[[str], int], now: datetime
) -> ContextPage | None:
    """Return the page as a trace stood before a record; None where it cannot be read now.

    Args:
        directory: The trace's; None where no session is open yet.
        before: The number of the first record that is left out.
        window_of: Tells a model's window.
        now: When the next request would be sent.
    """
    if directory is None:
        return None
    try:
        with JsonlTraceStore.open(directory, read_only=True) as store:
            records = list(store.records())
    except ToriError:
        return None
    return page_of_records((r for r in records if r.seq < before), directory, window_of, now)


def page_of_records(
    records: Iterable[Record], directory: Path, window_of: Callable[[str], int], now: datetime
) -> ContextPage:
    """Return the page as it stood at the end of the records."""
    history = TraceHistory.of(records)
    outputs = Outputs(directory / "outputs")
    model = history.turn(history.turns[-1]).model if history.turns else ""
    window_tokens = window_of(model) if model else 0
    request = next_request(history.records, lambda digest: section_text(outputs, digest), window_tokens, now)
    cost = _cost_usd(request) if request is not None else None
    return ContextPage(request, totals(history), window_tokens, cost)


def _cost_usd(request: SentRequest) -> float | None:
    try:
        profile = profile_for(request.turn.model)
    except ToriError:
        return None
    usage = Usage(input_tokens=request.tokens, cached_tokens=request.cacheable_tokens)
    return cost_usd(usage, profile)


__all__ = ["page_of_records", "page_of_trace"]
