"""Short ways to write messages and records in tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tori_tui.domain.events import DurableEvent, MessageAdded, Record
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, Seq
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.domain.state import SessionState, reduce_all

AT = datetime(2026, 1, 1, tzinfo=UTC)


def user(text: str, goal: str | None = None) -> Message:
    return Message(MAIN_CONTEXT, _goal(goal), "user", text, origin="user")


def assistant(text: str = "", *calls: ToolCall, goal: str | None = None) -> Message:
    return Message(MAIN_CONTEXT, _goal(goal), "assistant", text, tool_calls=calls)


def call(call_id: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(CallId(call_id), name, arguments)


def result(
    call_id: str, name: str, text: str, *, goal: str | None = None, details: JsonObject | None = None
) -> Message:
    return Message(
        MAIN_CONTEXT,
        _goal(goal),
        "tool",
        text,
        origin="tool",
        tool_call_id=CallId(call_id),
        name=name,
        details=details or {},
    )


def records(events: Sequence[DurableEvent | Message]) -> list[Record]:
    wrapped = [MessageAdded(e) if isinstance(e, Message) else e for e in events]
    return [Record(Seq(n), AT, event) for n, event in enumerate(wrapped, 1)]


def state_of(*events: DurableEvent | Message) -> SessionState:
    return reduce_all(records(events))


def _goal(goal: str | None) -> GoalId | None:
    return GoalId(goal) if goal else None
