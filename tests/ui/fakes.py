"""A session without a runner: tests say what happens, and see what was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tori_tui.domain.commands import Command
from tori_tui.domain.events import (
    DurableEvent,
    MessageAdded,
    PlanChanged,
    QuestionAsked,
    Record,
    TransientEvent,
)
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq, TraceId
from tori_tui.domain.messages import JsonObject, Message, Origin, ToolCall
from tori_tui.domain.plan_edits import MissionOpened, PlanEdit
from tori_tui.domain.state import SessionState, reduce
from tori_tui.runtime.bus import Bus, Subscription

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class FakeSession:
    def __init__(self, events: Iterable[DurableEvent] = (), notices: tuple[str, ...] = ()) -> None:
        self.trace_id = TraceId("20260101-000000-abcd")
        self.directory = Path("/tmp/project/.trace/20260101-000000-abcd")
        self.notices = notices
        self.sandbox = ""
        self.sent: list[Command] = []
        self.is_prepared = False
        self.records: list[Record] = []
        self.asked: tuple[QuestionAsked, ...] = ()
        self.is_closed = False
        self._state = SessionState()
        self._bus = Bus(self._state)
        self._end = asyncio.Event()
        for event in events:
            self.emit(event)

    @property
    def state(self) -> SessionState:
        return self._state

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        return self.asked

    def emit(self, *events: DurableEvent | TransientEvent) -> None:
        for event in events:
            if isinstance(event, DurableEvent):
                at = START + timedelta(seconds=int(self._state.next_seq))
                record = Record(Seq(self._state.next_seq), at, event)
                self._state = reduce(self._state, record)
                self.records.append(record)
                self._bus.publish(record, self._state)
            else:
                self._bus.announce(event)

    def subscribe(self) -> Subscription:
        return self._bus.subscribe()

    def send(self, command: Command) -> None:
        self.sent.append(command)

    async def prepare(self) -> None:
        self.is_prepared = True

    async def run(self) -> None:
        await self._end.wait()

    async def close(self) -> None:
        self.is_closed = True
        self._end.set()
        self._bus.close()


def mission(text: str, number: str = "m1") -> PlanChanged:
    return plan(MissionOpened(MissionId(number), text), author_is_user=False)


def plan(*edits: PlanEdit, author_is_user: bool = False) -> PlanChanged:
    return PlanChanged(edits, "user" if author_is_user else "model")


def said(text: str, goal: str | None = None, origin: Origin = "user") -> MessageAdded:
    return MessageAdded(Message(MAIN_CONTEXT, GoalId(goal) if goal else None, "user", text, origin))


def answered(text: str, *calls: ToolCall, goal: str | None = None, interrupted: bool = False) -> MessageAdded:
    goal_id = GoalId(goal) if goal else None
    return MessageAdded(
        Message(MAIN_CONTEXT, goal_id, "assistant", text, tool_calls=calls, interrupted=interrupted)
    )


def call(number: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(CallId(number), name, arguments)


def result(
    number: str,
    text: str,
    *,
    name: str = "bash",
    goal: str | None = None,
    is_error: bool = False,
    duration_s: float | None = None,
    details: JsonObject | None = None,
) -> MessageAdded:
    return MessageAdded(
        Message(
            MAIN_CONTEXT,
            GoalId(goal) if goal else None,
            "tool",
            text,
            "tool",
            tool_call_id=CallId(number),
            name=name,
            is_error=is_error,
            duration_s=duration_s,
            details=details or {},
        )
    )
