"""What `tori show` prints.

Must not change the trace, nor stop at a torn or broken line.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from tori_tui.cli import streams
from tori_tui.cli.traces import trace_root
from tori_tui.domain.ids import TraceId
from tori_tui.domain.state import SessionState
from tori_tui.render.folded_trace import folded_trace, steps_by_segment
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.codec import to_json
from tori_tui.trace.lines import told_faults
from tori_tui.trace.projections import goal_json, meta_json
from tori_tui.trace.store import JsonlTraceStore

LINES_AT_ONCE: Final = 1_000


def show_trace(
    trace: str, cwd: Path | None, trace_dir: Path | None, *, is_unfolded: bool, as_json: bool
) -> None:
    """Print a trace named by id, prefix or path; an empty name is the newest.

    Raises:
        TraceError: It is not there, or has a newer format.
    """
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    if as_json:
        content = session_json(TraceId(directory.resolve().name), _state_of(directory))
        streams.write_out_bytes(to_json(content) + b"\n")
    else:
        print_folded(directory, is_unfolded=is_unfolded)


def print_folded(directory: Path, *, is_unfolded: bool = False) -> None:
    """Print a trace as its plan."""
    state = _state_of(directory)
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    lines = folded_trace(state, is_unfolded=is_unfolded, width=console.width)
    if not streams.has_colour(sys.stdout):
        # A long trace has 100,000 lines; without colours there is nothing to render.
        while chunk := "".join(f"{line.plain}\n" for line in islice(lines, LINES_AT_ONCE)):
            streams.write_out(chunk)
        return
    try:
        for line in lines:
            console.print(line, soft_wrap=True)
    except OSError:
        # The reader went away: nobody misses the rest.
        return


def session_json(trace_id: TraceId, state: SessionState) -> dict[str, object]:
    """Return a session as one JSON object: both projections, and what was done for each goal."""
    steps = [
        {"mission": mission, "goal_id": goal, "text": step.text, "result": step.result, "call": step.is_call}
        for (mission, goal), done in steps_by_segment(state).items()
        for step in done
    ]
    goals = {
        goal.id: {
            "turns": stats.turns,
            "calls": stats.calls,
            "tokens": stats.usage.total_tokens,
            "cost_usd": stats.cost_usd,
            "duration_s": stats.duration_s,
            "changed_paths": list(stats.changed_paths),
        }
        for goal in state.tree.walk()
        for stats in (state.stats_of(goal.id),)
    }
    head = {"turns": state.n_turns, "reason": state.reason}
    return {**meta_json(trace_id, state), **head, **goal_json(state.tree), "stats": goals, "steps": steps}


def _state_of(directory: Path) -> SessionState:
    """Fold a trace, and tell what in it could not be read."""
    with JsonlTraceStore.open(directory, read_only=True) as store:
        state = store.load()
        for told in told_faults(store.faults):
            streams.write_err(f"{store.directory}: {told}\n")
    return state


__all__ = ["print_folded", "session_json", "show_trace"]
