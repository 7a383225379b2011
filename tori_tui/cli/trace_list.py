"""What `tori list` prints.

Must not read a trace whole: the list of a folder with huge traces comes at once.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size

from tori_tui.cli import streams
from tori_tui.cli.traces import trace_root
from tori_tui.render.safe_text import one_line
from tori_tui.trace.catalog import TraceEntry, list_traces, search_traces
from tori_tui.trace.codec import to_json

MISSION_LIMIT_CHARS: Final = 72

MISSION_LEAST_CELLS: Final = 30
"""With less room beside the other columns, it goes below them."""

GAP: Final = "  "

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
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in aligned(rows) if width is None else fitting(rows, width):
        streams.write_out(line + "\n")


def fitting(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """Return rows as lines no wider than a terminal: the last column is cut, or goes below the others."""
    facts = aligned([row[:-1] for row in rows])
    room = width - max(map(len, facts)) - len(GAP)
    if room >= MISSION_LEAST_CELLS:
        indent = width - room
        lines = [f"{line:{indent}}{row[-1]}" for line, row in zip(facts, rows, strict=True)]
    else:
        lines = [part for line, row in zip(facts, rows, strict=True) for part in (line, GAP + row[-1])]
    return [_cut(line, width).rstrip() for line in lines]


def _cut(line: str, cells: int) -> str:
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows as lines whose columns begin below each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [GAP.join(map(str.ljust, row, widths)).rstrip() for row in rows]


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


__all__ = ["aligned", "fitting", "print_list"]
