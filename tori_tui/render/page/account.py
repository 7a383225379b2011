"""Records to the account of a session, each thing at the place where it happened.

Must not read a trace, nor leave out what a rewind took back: it is told apart instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple, assert_never

from tori_tui.domain.events import (
    ApprovalChanged,
    BranchChanged,
    CallStarted,
    CheckpointSaved,
    CommentMoved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    ErrorOccurred,
    MemoryChanged,
    MessageAdded,
    MessagesFolded,
    PlanChanged,
    Record,
    Rewound,
    RunStatusChanged,
    SessionNamed,
    TurnFinished,
)
from tori_tui.domain.ids import BranchId, CallId, CommentId, GoalId, MissionId
from tori_tui.domain.messages import ContentPart, Message
from tori_tui.domain.plan_edits import GoalFocused, MissionOpened
from tori_tui.domain.rewind_words import rewind_told
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.render.page.entries import (
    Account,
    Called,
    CallState,
    Entry,
    Folded,
    Noted,
    RunEnded,
    Scene,
    Thought,
    Words,
)
from tori_tui.render.wording import (
    branch_in_words,
    context_in_words,
    edits_in_words,
    fate_in_words,
    memory_in_words,
    thinking_of,
)

SAID_TO_MODEL: Final = "with the model"

_SCOPES: Final[Mapping[str, str]] = MappingProxyType(
    {"once": "", "goal": "for this goal", "session": "for this session", "always": "always"}
)


class _Place(NamedTuple):
    """Where an entry belongs; entries side by side with the same place make a scene."""

    mission_id: MissionId | None
    goal_id: GoalId | None
    is_lost: bool


def account_of(
    name: str, records: Iterable[Record], branches: Mapping[BranchId, Account] | None = None
) -> Account:
    """Return what a session's records tell.

    Args:
        name: The trace's id.
        records: All of them, in order.
        branches: What the traces of its branches tell, as far as they are there.
    """
    known = tuple(records)
    state = reduce_all(known)
    teller = _Teller(state)
    for record in known:
        teller.tell(record)
    return Account(name, state, teller.scenes(), MappingProxyType(dict(branches or {})))


def own_part(account: Account) -> Account:
    """Return the account of a branch without what it inherited, which its session tells already."""
    return replace(account, scenes=tuple(s for s in account.scenes if s.mission_id is not None))


class _Teller:
    """Tells records one by one; what comes later changes what was told of a call or a comment."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._logged = {entry.seq: entry for entry in state.log}
        self._told: list[tuple[_Place, Entry]] = []
        self._calls: dict[CallId, int] = {}
        self._comments: dict[CommentId, int] = {}
        self._mission: MissionId | None = None
        self._goal: GoalId | None = None

    def scenes(self) -> tuple[Scene, ...]:
        """Return what was told so far."""
        grouped = groupby(self._told, key=lambda pair: pair[0])
        return tuple(
            Scene(place.mission_id, place.goal_id, place.is_lost, tuple(entry for _, entry in pairs))
            for place, pairs in grouped
        )

    def tell(self, record: Record) -> None:
        """Go on with one record."""
        event = record.event
        match event:
            case MessageAdded():
                self._message(record)
            case PlanChanged():
                self._plan_changed(record, event)
            case MessagesFolded():
                self._folded(record, event)
            case RunStatusChanged():
                if event.status not in ("running", "idle", "waiting"):
                    self._goal = None if event.status == "done" else self._goal
                    self._add(RunEnded(record.seq, record.at, event.status, event.reason))
            case ApprovalChanged():
                self._approval(event)
            case CallStarted():
                self._change_call(event.call_id, state="running")
            case CommentReceived():
                self._comments[event.comment_id] = len(self._told)
                self._add(Words(record.seq, record.at, "comment", event.text, images=event.images))
            case CommentRouted():
                self._set_fate(event.comment_id, fate_in_words(event, self._goal))
            case ErrorOccurred():
                self._add(Noted(record.seq, record.at, event.message, "error", event.hint))
            case MemoryChanged():
                self._note(record, memory_in_words(event))
            case BranchChanged():
                self._note(record, branch_in_words(event))
            case ContextChanged():
                self._note(record, context_in_words(event))
            case Rewound():
                told = Noted(record.seq, record.at, rewind_told(event))
                self._told.append((_Place(self._mission, self._goal, is_lost=False), told))
            case TurnFinished() | CheckpointSaved() | SessionNamed() | CommentMoved():
                pass
            case _:
                assert_never(event)

    def _add(self, entry: Entry) -> None:
        place = _Place(self._mission, self._goal, self._state.past.is_lost(entry.seq))
        self._told.append((place, entry))

    def _note(self, record: Record, text: str) -> None:
        if text:
            self._add(Noted(record.seq, record.at, text))

    def _plan_changed(self, record: Record, event: PlanChanged) -> None:
        if event.author in ("user", "comment"):
            self._note(record, edits_in_words(event.edits))
        for edit in event.edits:
            if isinstance(edit, GoalFocused):
                self._goal = edit.id
            elif isinstance(edit, MissionOpened):
                self._mission, self._goal = edit.id, None

    def _folded(self, record: Record, event: MessagesFolded) -> None:
        text = "\n\n".join(fold.text for fold in event.folds if fold.text and not fold.is_result)
        n_messages = sum(len(fold.seqs) for fold in event.folds)
        if n_messages:
            self._add(Folded(record.seq, record.at, event.reason, n_messages, text))

    # ── messages ──

    def _message(self, record: Record) -> None:
        logged = self._logged.get(record.seq)
        if logged is None:
            return
        # As the session knows it: a refused plan gives a message back to the goal before.
        message = logged.message
        if message.role == "tool":
            self._result(record, message)
            return
        self._mission, self._goal = logged.mission_id, message.goal_id
        if message.role == "assistant":
            self._reply(record, message)
        elif message.origin == "comment":
            self._comment_said(record, message)
        elif message.origin == "runner":
            self._note(record, message.text)
        elif message.origin != "fold" and not message.is_told_again:
            self._add(Words(record.seq, record.at, "user", message.text, images=_images(message)))

    def _reply(self, record: Record, message: Message) -> None:
        seq, at = record.seq, record.at
        if thinking := (thinking_of(message) or message.thinking).strip():
            self._add(Thought(seq, at, thinking))
        if message.text.strip():
            images = _images(message)
            self._add(Words(seq, at, "model", message.text, images=images, is_cut_off=message.interrupted))
        for call in message.tool_calls:
            self._calls[call.id] = len(self._told)
            state: CallState = "interrupted" if message.interrupted else "waiting"
            self._add(Called(seq, at, call.id, call.name, call.arguments, call.arguments_raw, state))

    def _result(self, record: Record, message: Message) -> None:
        if message.tool_call_id is None:
            return
        if message.tool_call_id not in self._calls:
            self._calls[message.tool_call_id] = len(self._told)
            self._add(Called(record.seq, record.at, message.tool_call_id, message.name or "tool"))
        place, called = self._told[self._calls[message.tool_call_id]]
        if not isinstance(called, Called):
            return
        state: CallState = "failed" if message.is_error else "done"
        done = replace(
            called,
            state=called.state if called.state == "denied" else state,
            output=message.text,
            details=message.details,
            duration_s=message.duration_s,
            full=message.full,
            images=_images(message),
        )
        self._told[self._calls[message.tool_call_id]] = (place, done)

    def _comment_said(self, record: Record, message: Message) -> None:
        """A comment joined the context: told once, where it was typed."""
        if message.comment_id in self._comments:
            self._set_fate(message.comment_id, SAID_TO_MODEL, is_weak=True)
        else:
            self._add(Words(record.seq, record.at, "comment", message.text, SAID_TO_MODEL))

    # ── what changes an entry ──

    def _set_fate(self, comment_id: CommentId | None, fate: str, *, is_weak: bool = False) -> None:
        index = self._comments.get(comment_id) if comment_id is not None else None
        if index is None:
            return
        place, words = self._told[index]
        if isinstance(words, Words) and not (is_weak and words.fate):
            self._told[index] = (place, replace(words, fate=fate))

    def _change_call(
        self, call_id: CallId, *, state: CallState, title: str = "", detail: str = "", answer: str = ""
    ) -> None:
        index = self._calls.get(call_id)
        place, called = self._told[index] if index is not None else (None, None)
        if index is None or place is None or not isinstance(called, Called):
            return
        if called.state in ("done", "failed"):
            return
        changed = replace(
            called,
            state=state,
            title=title or called.title,
            detail=detail or called.detail,
            answer=answer or called.answer,
        )
        self._told[index] = (place, changed)

    def _approval(self, event: ApprovalChanged) -> None:
        match event.state:
            case "asked":
                state: CallState = "asked"
                answer = ""
            case "allowed":
                scope = _SCOPES[event.scope]
                state, answer = "waiting", f"allowed {scope}" if scope else ""
            case "denied":
                state, answer = "denied", f"denied: {event.reason}" if event.reason else "denied"
        self._change_call(event.call_id, state=state, title=event.title, detail=event.detail, answer=answer)


def _images(message: Message) -> tuple[ContentPart, ...]:
    if isinstance(message.content, str):
        return ()
    return tuple(part for part in message.content if part.type == "image")


__all__ = ["account_of", "own_part"]
