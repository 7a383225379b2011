"""Gives a session that nobody has open another name.

Must not change anything else of a trace.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tori_tui.domain.events import Record, SessionNamed
from tori_tui.domain.ids import TraceId
from tori_tui.domain.plain_text import mended
from tori_tui.domain.state import reduce
from tori_tui.trace.projections import write_projections
from tori_tui.trace.store import JsonlTraceStore


def rename_trace(directory: Path, name: str, at: datetime) -> None:
    """Record a name; an empty one takes the old one away.

    Raises:
        TraceError: The trace is open elsewhere, missing, too new or cannot be written.
    """
    with JsonlTraceStore.open(directory) as store:
        state = store.load()
        record = Record(state.next_seq, at, mended(SessionNamed(name)))
        store.append(record)
        write_projections(directory, TraceId(directory.name), reduce(state, record))


__all__ = ["rename_trace"]
