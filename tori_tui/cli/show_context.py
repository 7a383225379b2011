"""What `tori context` prints.

Must not change the trace, nor ask a provider anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tori_tui.cli import streams
from tori_tui.cli.traces import trace_root
from tori_tui.context.inspector import TraceHistory, inspect, totals
from tori_tui.domain.errors import ToriError, UsageError
from tori_tui.domain.inspection import SentRequest, SentTotals
from tori_tui.providers.catalogue import DEFAULT_WINDOW_TOKENS, profile_for
from tori_tui.render.request_sections import request_difference, request_sections, totals_lines
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.codec import to_json
from tori_tui.trace.lines import told_faults
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.store import JsonlTraceStore


def show_context(
    trace: str,
    cwd: Path | None,
    trace_dir: Path | None,
    *,
    turn: int | None,
    diff: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Print a request of a trace named by id, prefix or path; an empty name is the newest.

    Raises:
        TraceError: The trace is not there, or has a newer format.
        UsageError: It has no such turn.
    """
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    with JsonlTraceStore.open(directory, read_only=True) as store:
        history = TraceHistory.of(store.records())
        for told in told_faults(store.faults):
            streams.write_err(f"{store.directory}: {told}\n")
    if not history.turns:
        raise UsageError(f"The trace {directory.name} has no request yet.")
    outputs = Outputs(directory / "outputs")
    wanted = diff or (turn if turn is not None else history.turn(history.turns[-1]).number,)
    requests = [_request(history, outputs, number) for number in wanted]
    if as_json:
        streams.write_out_bytes(to_json(_as_json(requests, totals(history))) + b"\n")
    elif diff is not None:
        _print(request_difference(*requests))
    else:
        _print((*request_sections(requests[0]), Text(""), *totals_lines(totals(history))))


def _request(history: TraceHistory, outputs: Outputs, number: int) -> SentRequest:
    at = history.index_of(number)
    if at is None:
        known = [history.turn(place).number for place in history.turns]
        raise UsageError(f"There is no turn {number}.", f"The turns are {known[0]} to {known[-1]}.")
    window = window_tokens(history.turn(at).model)
    return inspect(history, at, lambda digest: section_text(outputs, digest), window)


def section_text(outputs: Outputs, digest: str) -> str:
    """Return the text of a section by its hash; empty where it is not there any more."""
    try:
        return outputs.read_text(f"{digest}.txt") if digest else ""
    except ToriError:
        return ""


def window_tokens(model: str) -> int:
    """Return a model's window; the usual one where it is not known."""
    try:
        return profile_for(model).window_tokens
    except ToriError:
        return DEFAULT_WINDOW_TOKENS


def _as_json(requests: Iterable[SentRequest], sums: SentTotals) -> dict[str, object]:
    return {
        "requests": [
            {
                "turn": request.turn.number,
                "at": request.at.isoformat(),
                "model": request.turn.model,
                "context": request.turn.context,
                "goal_id": request.turn.goal_id,
                "rewrite": request.turn.rewrite,
                "tokens": request.tokens,
                "cacheable_tokens": request.cacheable_tokens,
                "is_cold": request.is_cold,
                "usage": asdict(request.turn.usage),
                "sections": [
                    {key: value for key, value in asdict(part).items() if key != "text"}
                    | {"share": round(part.tokens / request.tokens, 4) if request.tokens else 0.0}
                    for part in request.parts
                ],
                "repeats": [asdict(repeat) for repeat in request.repeats],
            }
            for request in requests
        ],
        "totals": asdict(sums),
    }


def _print(lines: Iterable[Text]) -> None:
    if not streams.has_colour(sys.stdout):
        streams.write_out("".join(f"{line.plain.rstrip()}\n" for line in lines))
        return
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    try:
        for line in lines:
            console.print(line, soft_wrap=True)
    except OSError:
        # The reader went away: nobody misses the rest.
        return


__all__ = ["section_text", "show_context", "window_tokens"]
