"""What the app's context pane shows: the numbers of `tori context`, for the request that comes next.

Must not change the trace; it is read beside the session that writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from threading import Lock

from tori_tui.cli.show_context import section_text
from tori_tui.context.inspector import totals
from tori_tui.context.next_request import next_request
from tori_tui.context.trace_history import TraceHistory
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import Record
from tori_tui.domain.inspection import ContextPage, SentRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.catalogue import profile_for
from tori_tui.runtime.pricing import cost_usd
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.tail import TraceTail


class ContextPages:
    """The pages of one session, each made from what is known of the one before.

    Args:
        directory: Finds the trace; None where no session is open yet.
        window_of: Tells a model's window.
    """

    def __init__(self, directory: Callable[[], Path | None], window_of: Callable[[str], int]) -> None:
        self._directory = directory
        self._window_of = window_of
        self._tail: TraceTail | None = None
        self._history = TraceHistory()
        self._busy = Lock()
        """A page and the cost may be asked for at once, each by a thread."""

    def page(self, now: datetime) -> ContextPage | None:
        """Return the page as the trace stands; None where it cannot be read now."""
        directory = self._directory()
        if directory is None:
            return None
        with self._busy:
            if self._tail is None or self._tail.directory != directory:
                self._tail, self._history = TraceTail(directory), TraceHistory()
            try:
                self._history.grow(self._tail.read())
            except ToriError:
                return None
            return page_of_history(self._history, directory, self._window_of, now)


def page_of_records(
    records: Iterable[Record], directory: Path, window_of: Callable[[str], int], now: datetime
) -> ContextPage:
    """Return the page as it stood at the end of the records."""
    return page_of_history(TraceHistory.of(records), directory, window_of, now)


def page_of_history(
    history: TraceHistory, directory: Path, window_of: Callable[[str], int], now: datetime
) -> ContextPage:
    """Return the page as it stands at the end of a history."""
    outputs = Outputs(directory / "outputs")
    model = history.turn(history.turns[-1]).model if history.turns else ""
    window_tokens = window_of(model) if model else 0
    request = next_request(history, lambda digest: section_text(outputs, digest), window_tokens, now)
    cost = _cost_usd(request) if request is not None else None
    return ContextPage(request, totals(history), window_tokens, cost)


def _cost_usd(request: SentRequest) -> float | None:
    try:
        profile = profile_for(request.turn.model)
    except ToriError:
        return None
    usage = Usage(input_tokens=request.tokens, cached_tokens=request.cacheable_tokens)
    return cost_usd(usage, profile)


__all__ = ["ContextPages", "page_of_history", "page_of_records"]
