"""The one place between a session and the screens: bus items to messages, intents to commands.

Must not draw and must not know a widget; screens receive messages and call methods here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Protocol

from textual.message import Message

from tori_tui.domain.commands import (
    AddComment,
    AnswerQuestion,
    Command,
    ContinueRun,
    DecideApproval,
    EditPlan,
    InterruptRun,
    SwitchEffort,
    SwitchMode,
    SwitchModel,
)
from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import (
    CallStreamed,
    Mode,
    QuestionAsked,
    Record,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    TransientEvent,
)
from tori_tui.domain.ids import ApprovalId, CommentId, QuestionId, Seq, TraceId
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.state import FIRST_SEQ, SessionState
from tori_tui.runtime.bus import BusItem, Published, Resync, Subscription, merge
from tori_tui.ui.messages import SessionFailed

STREAMED: Final = (TextStreamed, ThinkingStreamed, CallStreamed, ToolOutputStreamed)

PACE_S: Final = 0.05
"""What lies between two drawings of the conversation."""


class SessionPort(Protocol):
    """What the app needs of a session."""

    @property
    def trace_id(self) -> TraceId:
        """The trace's id."""
        ...

    @property
    def directory(self) -> Path:
        """Where the trace lies."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should be told once."""
        ...

    @property
    def sandbox(self) -> str:
        """The name of the sandbox, a colon, and what it holds; empty where there is none."""
        ...

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        ...

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        """The model's questions that wait."""
        ...

    def subscribe(self) -> Subscription:
        """Register a reader."""
        ...

    def send(self, command: Command) -> None:
        """Hand in a command."""
        ...

    async def prepare(self) -> None:
        """Load what the first request needs ahead of it."""
        ...

    async def run(self) -> None:
        """Serve commands until `close`."""
        ...

    async def close(self) -> None:
        """Wind down."""
        ...


class SessionOpened(Message):
    """The session is there."""

    def __init__(
        self,
        directory: Path,
        notices: tuple[str, ...],
        state: SessionState,
        sandbox: str = "",
        records: Sequence[Record] = (),
    ) -> None:
        super().__init__()
        self.records = records
        """What led to the state; empty where nobody knows."""
        self.sandbox = sandbox
        self.directory = directory
        self.notices = notices
        self.state = state


class RecordArrived(Message):
    """A durable event happened."""

    def __init__(self, record: Record, state: SessionState) -> None:
        super().__init__()
        self.record = record
        self.state = state


class EventArrived(Message):
    """Something happens that is shown and not kept."""

    def __init__(self, event: TransientEvent) -> None:
        super().__init__()
        self.event = event


class StateReset(Message):
    """Begin anew from this state."""

    def __init__(self, state: SessionState, records: Sequence[Record] = ()) -> None:
        super().__init__()
        self.state = state
        self.records = records
        """What led to it; empty where nobody knows."""


class Bridge:
    """Connects a session with a screen.

    Args:
        open_session: Opens it; called once, after the first frame.
        new_token: A new short random text, for ids.
        read_records: Returns a trace's records before one, so that what only they tell is shown again.
        on_prepared: Called when all that the first request needs is loaded.
    """

    def __init__(
        self,
        open_session: Callable[[], Awaitable[SessionPort]],
        *,
        new_token: Callable[[], str],
        read_records: Callable[[Path, Seq], Sequence[Record]] = lambda directory, before: (),
        on_prepared: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_session = open_session
        self._new_token = new_token
        self._read_records = read_records
        self._on_prepared = on_prepared
        self._session: SessionPort | None = None
        self._early: list[Command] = []
        """Commands that came before the session was there."""

    @property
    def session(self) -> SessionPort | None:
        """The session, once it is open."""
        return self._session

    async def serve(self, post: Callable[[Message], object]) -> None:
        """Open the session and hand on what happens, until it is closed."""
        try:
            session = await self._open_session()
        except ToriError as error:
            post(SessionFailed(error))
            return
        self._session = session
        subscription = session.subscribe()
        state = subscription.snapshot
        records = await self._records_before(state)
        post(SessionOpened(session.directory, session.notices, state, session.sandbox, records))
        for command in self._early:
            session.send(command)
        self._early.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._prepare(session))
            group.create_task(session.run())
            group.create_task(self._forward(subscription, post))

    async def _prepare(self, session: SessionPort) -> None:
        with suppress(ToriError):  # the first request tells it
            await session.prepare()
        self._on_prepared()

    async def close(self) -> None:
        """Wind the session down; nothing of it runs after this."""
        if self._session is not None:
            await self._session.close()

    async def _forward(self, subscription: Subscription, post: Callable[[Message], object]) -> None:
        stream = Pacer(lambda item: post(_message_of(item)), asyncio.get_running_loop())
        async for item in subscription:
            if isinstance(item, Resync):
                stream.flush()
                await self._begin_anew(item.state, post)
            else:
                stream.put(item)

    async def _begin_anew(self, state: SessionState, post: Callable[[Message], object]) -> None:
        """After a lag: what was dropped is read again, and a question that still waits is asked again."""
        post(StateReset(state, await self._records_before(state)))
        for question in self._session.questions if self._session is not None else ():
            post(EventArrived(question))

    async def _records_before(self, state: SessionState) -> Sequence[Record]:
        if self._session is None or state.next_seq == FIRST_SEQ:
            return ()
        try:
            return await asyncio.to_thread(self._read_records, self._session.directory, state.next_seq)
        except (OSError, ToriError):
            return ()  # the state alone tells what was said

    # ── intents to commands ──

    def say(self, text: str, aim: str = "", images: tuple[ContentPart, ...] = ()) -> None:
        """Say something: a comment while a run goes on, else the next mission."""
        self._send(AddComment(CommentId(self._new_token()), text, aim, images))

    def go_on(self) -> None:
        """Go on with the mission."""
        self._send(ContinueRun())

    def interrupt(self) -> None:
        """Stop what runs."""
        self._send(InterruptRun())

    def allow(self, approval_id: ApprovalId, scope: Literal["once", "goal", "session", "always"]) -> None:
        """Let a call run."""
        self._send(DecideApproval(approval_id, True, scope=scope))

    def deny(self, approval_id: ApprovalId, reason: str) -> None:
        """Keep a call from running."""
        self._send(DecideApproval(approval_id, False, reason))

    def answer(self, question_id: QuestionId, text: str) -> None:
        """Answer a question."""
        self._send(AnswerQuestion(question_id, text))

    def edit_plan(self, edits: tuple[PlanEdit, ...]) -> None:
        """Change the plan."""
        if edits:
            self._send(EditPlan(edits))

    def command(self, command: Command) -> None:
        """Hand on what is a command already."""
        self._send(command)

    def switch_model(self, name: str) -> None:
        """Use another model from the next request on."""
        self._send(SwitchModel(name))

    def switch_effort(self, effort: EffortChoice) -> None:
        """Let the model think more or less from the next request on."""
        self._send(SwitchEffort(effort))

    def switch_mode(self, mode: Mode) -> None:
        """Use another permission mode."""
        self._send(SwitchMode(mode))

    def _send(self, command: Command) -> None:
        if self._session is None:
            self._early.append(command)
        else:
            self._session.send(command)


class Pacer:
    """Hands on what streams at most every `PACE_S`, put together; everything else at once, in order."""

    def __init__(self, hand_on: Callable[[BusItem], object], loop: asyncio.AbstractEventLoop) -> None:
        self._hand_on = hand_on
        self._loop = loop
        self._held: BusItem | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_s = 0.0

    def put(self, item: BusItem) -> None:
        """Take the next item."""
        if self._held is not None:
            together = merge(self._held, item)
            if together is not None:
                self._held = together
                return
            self.flush()
        wait_s = self._last_s + PACE_S - self._loop.time()
        if isinstance(item, STREAMED) and wait_s > 0:
            self._held = item
            self._timer = self._loop.call_later(wait_s, self.flush)
        else:
            self._send(item)

    def flush(self) -> None:
        """Hand on what is held."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, None
        if held is not None:
            self._send(held)

    def _send(self, item: BusItem) -> None:
        self._last_s = self._loop.time()
        self._hand_on(item)


def _message_of(item: BusItem) -> Message:
    match item:
        case Published():
            return RecordArrived(item.record, item.state)
        case Resync():  # told with its records, by the bridge itself
            return StateReset(item.state)
        case _:
            return EventArrived(item)


__all__ = [
    "Bridge",
    "EventArrived",
    "RecordArrived",
    "SessionOpened",
    "SessionPort",
    "StateReset",
]
