from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

from tori_tui.domain.events import (
    DURABLE_EVENTS,
    DurableEvent,
    MessageAdded,
    PlanChanged,
    Record,
    RunStatusChanged,
)
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId, MissionId, Seq
from tori_tui.domain.messages import Content, JsonObject, Message, ToolCall
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused, MissionOpened
from tori_tui.domain.usage import Usage
from tori_tui.trace.codec import encode
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore

AT = datetime(2026, 1, 1, tzinfo=UTC)

_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_json_objects = st.dictionaries(st.text(), _json_values, max_size=4)
_finite = st.floats(allow_nan=False, allow_infinity=False)


st.register_type_strategy(float, _finite)
st.register_type_strategy(Mapping, lambda _: _json_objects)

EVENTS: st.SearchStrategy[DurableEvent] = st.one_of([st.from_type(cls) for cls in DURABLE_EVENTS])


def record(event: DurableEvent, seq: int = 1) -> Record:
    return Record(Seq(seq), AT + timedelta(seconds=seq - 1), event)


def message(
    content: Content = "Hello",
    *,
    goal_id: str | None = "2.1",
    tool_calls: tuple[ToolCall, ...] = (),
    usage: Usage | None = None,
    details: JsonObject | None = None,
) -> MessageAdded:
    return MessageAdded(
        Message(
            MAIN_CONTEXT,
            GoalId(goal_id) if goal_id else None,
            "assistant",
            content,
            tool_calls=tool_calls,
            usage=usage,
            details=details or {},
        )
    )


def messages(n_messages: int, first_seq: int = 1) -> list[Record]:
    return [record(message(f"word {seq}"), seq) for seq in range(first_seq, first_seq + n_messages)]


def session(text: str = "Fix the parser", status: str = "done") -> list[Record]:
    goal = GoalId("1")
    plan = (MissionOpened(MissionId("m1"), text), GoalAdded(goal, None, "Find it"), GoalFocused(goal))
    events: list[DurableEvent] = [
        RunStatusChanged("running", model="openai/gpt", cwd="/src", git_head="abc"),
        PlanChanged(plan, "user"),
        message("Found.", goal_id="1"),
    ]
    if status == "done":
        events.append(RunStatusChanged("done"))
    return [record(event, seq) for seq, event in enumerate(events, 1)]


def write_lines(directory: Path, records: Sequence[Record], tail: bytes = b"") -> Path:
    """Write a trace as an earlier process left it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / MESSAGES_NAME
    path.write_bytes(b"".join(map(encode, records)) + tail)
    return path


def read(directory: Path) -> list[Record]:
    with JsonlTraceStore.open(directory, read_only=True) as store:
        return list(store.records())
