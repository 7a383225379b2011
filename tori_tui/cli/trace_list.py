"""What `tori list` prints.

Must not read a trace whole: the list of a folder with huge traces comes at once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.columns import aligned, cut
from tori_tui.cli.traces import trace_root
from tori_tui.render.safe_text import one_line
from tori_tui.trace.catalog import TraceEntry, list_traces, search_traces
from tori_tui.trace.codec import to_json

MISSION_LIMIT_CHARS: Final = 72

_HEAD: Final = ("TRACE", "CHANGED", "STATUS", "TURNS", "COST", "MISSION")


def print_list(cwd: Path | None, trace_dir: Path | None, *, words: str = "", as_json: bool) -> None:
    """Print the traces of a folder, newest first: all, or those in which every word stands."""
    root = trace_root(cwd, trace_dir)
    entries = search_traces(list_traces(root), words)
    if as_json:
        for entry in entries:
            streams.write_out_bytes(to_json(_plain(entry)) + b"\n")
        return
    if not entries and words:
        streams.write_err(f"No session has {one_line(words)!r} in its id, name or mission.\n")
        return
    if not entries:
        streams.write_err(f'There is no trace in {one_line(str(root))}. `tori run "…"` makes one.\n')
        return
    rows = [_HEAD, *map(_row, entries)]
    width = streams.terminal_width()
    for line in aligned(rows) if width is None else cut(rows, width):
        streams.write_out(line + "\n")


def _row(entry: TraceEntry) -> tuple[str, ...]:
    more = f" (+{entry.n_missions - 1})" if entry.n_missions > 1 else ""
    return (
        one_line(entry.id),
        _local(entry.updated_at),
        entry.status or "?",
        "" if entry.n_turns is None else str(entry.n_turns),
        "" if not entry.cost_usd else f"${entry.cost_usd:.2f}",
        (f"{one_line(entry.name)}: " if entry.name else "")
        + one_line(entry.mission, MISSION_LIMIT_CHARS)
        + more,
    )


def _local(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def _plain(entry: TraceEntry) -> dict[str, object]:
    return {
        "id": entry.id,
        "path": str(entry.path),
        "name": entry.name,
        "mission": entry.mission,
        "n_missions": entry.n_missions,
        "status": entry.status,
        "n_turns": entry.n_turns,
        "model": entry.model,
        "cost_usd": entry.cost_usd,
        "created": _stamp(entry.created_at),
        "updated": _stamp(entry.updated_at),
    }


def _stamp(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


__all__ = ["print_list"]
