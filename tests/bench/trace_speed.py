"""How long a large trace takes to open and to list.

Must not count what only a bench does: to free a state that nobody keeps.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tori_tui.domain.events import (
    DurableEvent,
    MessageAdded,
    PlanChanged,
    Record,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq, TraceId
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_edits import GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.domain.usage import Usage
from tori_tui.trace.catalog import list_traces
from tori_tui.trace.codec import encode
from tori_tui.trace.projections import rebuild, write_projections
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore

N_RECORDS: Final = 100_000
N_GOALS: Final = 12
N_TIMES: Final = 5
RESULT_CHARS: Final = 600
BEGAN_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


def events(n_records: int = N_RECORDS, n_goals: int = N_GOALS) -> Iterator[DurableEvent]:
    """Yield the events of a long session: turns of a call and its result, spread over goals."""
    yield RunStatusChanged("running", model="openai/gpt", mode="auto", cwd="/work")
    yield PlanChanged((MissionOpened(MissionId("m1"), "Port the parser"),), "user")
    ids = [GoalId(str(number)) for number in range(1, n_goals + 1)]
    yield PlanChanged(tuple(GoalAdded(i, None, f"Part {i} of the port") for i in ids), "model")
    n_turns = max(1, (n_records - 2) // 3 // n_goals)
    turn = 0
    for goal_id in ids:
        yield PlanChanged((GoalFocused(goal_id),), "model")
        for _ in range(n_turns):
            turn += 1
            yield from _turn(turn, goal_id)
        yield PlanChanged((GoalCompleted(goal_id, f"Part {goal_id} works"),), "model")


def _turn(number: int, goal_id: GoalId) -> Iterator[DurableEvent]:
    call = ToolCall(CallId(f"call_{number:08}"), "read_file", {"path": f"src/parser/part_{number}.py"})
    usage = Usage(20_000 + number, 180, 19_000, 900)
    yield MessageAdded(
        Message(
            MAIN_CONTEXT, goal_id, "assistant", "Next I read the part. " * 8, tool_calls=(call,), usage=usage
        )
    )
    yield TurnFinished(number, MAIN_CONTEXT, goal_id, "openai/gpt", "tool_calls", usage, 0.01, 0.4, 2.5)
    result = f"{number:>6}  def part():\n" * (RESULT_CHARS // 20)
    yield MessageAdded(
        Message(
            MAIN_CONTEXT,
            goal_id,
            "tool",
            result,
            "tool",
            tool_call_id=call.id,
            name="read_file",
            duration_s=0.01,
        )
    )


def write_trace(directory: Path, n_records: int = N_RECORDS, n_goals: int = N_GOALS) -> int:
    """Write such a session's trace and return its size in bytes."""
    directory.mkdir(parents=True)
    with (directory / MESSAGES_NAME).open("wb") as file:
        for seq, event in enumerate(events(n_records, n_goals), 1):
            file.write(encode(Record(Seq(seq), BEGAN_AT + timedelta(milliseconds=seq), event)))
        return file.tell()


def measure() -> list[Figure]:
    """Return the figures of a trace of 100,000 records, each the best of five: a busy machine only adds."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / ".trace" / "20260101-000000-aaaa"
        size_bytes = write_trace(directory)
        note = f"{size_bytes / N_RECORDS:.0f} bytes a record, {N_GOALS} goals"
        open_s = _best_s(lambda: _load(directory))
        with JsonlTraceStore.open(directory) as store:
            records = list(store.records())
        reduce_s = _best_s(lambda: reduce_all(records))
        bare_s = _best_s(lambda: list_traces(directory.parent))
        state = rebuild(directory)
        list_s = _best_s(lambda: list_traces(directory.parent))
        projection_s = _best_s(lambda: write_projections(directory, TraceId(directory.name), state))
    return [
        Figure("a trace of 100,000 records opens", open_s, " s", 2, note),
        Figure("of that, the records become a state", reduce_s, " s", 1),
        Figure("it is listed without meta.json", bare_s, " s", 0.2),
        Figure("it is listed with it", list_s, " s", 0.2),
        Figure("goal.json and meta.json are written", projection_s * 1_000, " ms"),
    ]


def _load(directory: Path) -> SessionState:
    with JsonlTraceStore.open(directory) as store:
        return store.load()


def _best_s(measured: Callable[[], object]) -> float:
    times_s = []
    for _ in range(N_TIMES):
        gc.collect()
        gc.disable()
        began = time.perf_counter()
        result = measured()
        times_s.append(time.perf_counter() - began)
        gc.enable()
        del result  # only now: whoever opens a trace keeps what it gave
    return min(times_s)


__all__ = ["BEGAN_AT", "events", "measure", "write_trace"]
