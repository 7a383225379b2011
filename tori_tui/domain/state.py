"""The state of a session, and the pure function that makes it from the trace's records.

Must not read a clock, a file or a random number; folding the same records gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar, assert_never

from tori_tui.domain.events import (
    ApprovalChanged,
    CallStarted,
    CheckpointSaved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    ErrorOccurred,
    MessageAdded,
    MessagesFolded,
    Mode,
    PlanChanged,
    Record,
    RunCause,
    RunStatus,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, CommentId, ContextId, GoalId, MissionId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_edits import GoalAbandoned, GoalCompleted, PlanEdit, apply_edits
from tori_tui.domain.usage import Usage
from tori_tui.domain.view import View, add_message, fold_view, reassign

FIRST_SEQ = Seq(1)

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message with its place in the session."""

    seq: Seq
    at: datetime
    mission_id: MissionId | None
    message: Message


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that has no result yet."""

    call: ToolCall
    message_seq: Seq
    context: ContextId
    goal_id: GoalId | None
    started: CallStarted | None = None
    approval: ApprovalChanged | None = None
    plan: PlanChanged | None = None
    """What a goal call did to the plan."""


@dataclass(frozen=True, slots=True)
class GoalStats:
    """What one goal (or, under the key None, the missions' own segments) took, children not included."""

    turns: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    duration_s: float = 0.0
    """Model and tool time, not the user's."""
    changed_paths: tuple[str, ...] = ()

    def __add__(self, other: GoalStats) -> GoalStats:
        new_paths = tuple(p for p in other.changed_paths if p not in self.changed_paths)
        return GoalStats(
            self.turns + other.turns,
            self.calls + other.calls,
            self.usage + other.usage,
            self.cost_usd + other.cost_usd,
            self.duration_s + other.duration_s,
            self.changed_paths + new_paths,
        )


def _nothing() -> Mapping[K, V]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything that is known of a session after a durable event. Frozen and shared freely."""

    next_seq: Seq = FIRST_SEQ
    status: RunStatus = "idle"
    reason: str = ""
    cause: RunCause = ""
    facts: RunStatusChanged | None = None
    """The newest record that began a run: model, mode, cwd, git head."""
    model: str = ""
    mode: Mode | str = ""
    tree: GoalTree = field(default_factory=GoalTree)
    log: Log[LoggedMessage] = field(default_factory=Log)
    views: Mapping[ContextId, View] = field(default_factory=_nothing)
    contexts: Mapping[ContextId, ContextChanged] = field(default_factory=_nothing)
    active_context: ContextId = MAIN_CONTEXT
    n_turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    has_unpriced_turns: bool = False
    last_turns: Mapping[ContextId, TurnFinished] = field(default_factory=_nothing)
    goal_stats: Mapping[GoalId | None, GoalStats] = field(default_factory=_nothing)
    open_calls: Mapping[CallId, OpenCall] = field(default_factory=_nothing)
    """In the order in which the model wrote them."""
    comments: Mapping[CommentId, CommentReceived] = field(default_factory=_nothing)
    """Received and not yet routed, in order."""
    ended_goals: tuple[GoalId, ...] = ()
    """Marked: completed or abandoned and not folded yet, in the order of their end."""
    denials: tuple[ApprovalChanged, ...] = ()
    last_error: ErrorOccurred | None = None
    last_checkpoint: CheckpointSaved | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def view(self, context: ContextId) -> View:
        """Return the view of a context; an empty one if nothing was said in it."""
        return self.views.get(context) or View()

    def stats_of(self, goal_id: GoalId) -> GoalStats:
        """Return what a goal took, its children included."""
        goal = self.tree.find(goal_id)
        total = GoalStats()
        for part in goal.walk() if goal else ():
            total = total + self.goal_stats.get(part.id, GoalStats())
        return total


def reduce(state: SessionState, record: Record) -> SessionState:
    """Return the state after one record. Pure and total: no record of a known kind stops it."""
    event = record.event
    state = replace(
        state,
        next_seq=Seq(record.seq + 1),
        created_at=state.created_at or record.at,
        updated_at=record.at,
    )
    match event:
        case MessageAdded():
            return _message_added(state, record.seq, record.at, event.message)
        case TurnFinished():
            return _turn_finished(state, event)
        case PlanChanged():
            return _plan_changed(state, event)
        case MessagesFolded():
            return _folded(state, event)
        case CallStarted():
            return _call_started(state, event)
        case RunStatusChanged():
            return _run_changed(state, event)
        case ApprovalChanged():
            return _approval_changed(state, event)
        case ContextChanged():
            return _context_changed(state, event)
        case CommentReceived():
            return replace(state, comments=_with(state.comments, event.comment_id, event))
        case CommentRouted():
            return _comment_routed(state, event)
        case CheckpointSaved():
            return replace(state, last_checkpoint=event)
        case ErrorOccurred():
            return replace(state, last_error=event)
        case _:
            assert_never(event)


def reduce_all(records: Iterable[Record], state: SessionState | None = None) -> SessionState:
    """Fold records, in order, into a state."""
    state = state or SessionState()
    for record in records:
        state = reduce(state, record)
    return state


def _with(mapping: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    return MappingProxyType({**mapping, key: value})


def _message_added(state: SessionState, seq: Seq, at: datetime, message: Message) -> SessionState:
    entry = LoggedMessage(seq, at, state.tree.mission, message)
    open_calls = state.open_calls
    stats = state.goal_stats
    if message.role == "tool" and message.tool_call_id in open_calls:
        open_calls = MappingProxyType({k: v for k, v in open_calls.items() if k != message.tool_call_id})
    if message.tool_calls and not message.interrupted:
        added = {
            call.id: OpenCall(call, seq, message.context, message.goal_id) for call in message.tool_calls
        }
        open_calls = MappingProxyType({**open_calls, **added})
    if message.role == "tool":
        spent = GoalStats(
            calls=1, duration_s=message.duration_s or 0.0, changed_paths=_changed_paths(message.details)
        )
        stats = _with(stats, message.goal_id, stats.get(message.goal_id, GoalStats()) + spent)
    view = add_message(state.view(message.context), seq, message)
    if message.comment_id in state.comments:
        waiting = MappingProxyType({k: v for k, v in state.comments.items() if k != message.comment_id})
        state = replace(state, comments=waiting)
    return replace(
        state,
        log=state.log.appended(entry),
        views=_with(state.views, message.context, view),
        open_calls=open_calls,
        goal_stats=stats,
    )


def _changed_paths(details: Mapping[str, object]) -> tuple[str, ...]:
    paths = details.get("changed_paths")
    return tuple(str(p) for p in paths) if isinstance(paths, (list, tuple)) else ()


def _turn_finished(state: SessionState, event: TurnFinished) -> SessionState:
    spent = GoalStats(turns=1, usage=event.usage, cost_usd=event.cost_usd or 0.0, duration_s=event.duration_s)
    before = state.goal_stats.get(event.goal_id, GoalStats())
    return replace(
        state,
        n_turns=max(state.n_turns, event.number),
        usage=state.usage + event.usage,
        cost_usd=state.cost_usd + (event.cost_usd or 0.0),
        has_unpriced_turns=state.has_unpriced_turns or event.cost_usd is None,
        last_turns=_with(state.last_turns, event.context, event),
        goal_stats=_with(state.goal_stats, event.goal_id, before + spent),
    )


def _plan_changed(state: SessionState, event: PlanChanged) -> SessionState:
    state = _edited(state, event.edits)
    if event.call_id is not None and (call := state.open_calls.get(event.call_id)):
        state = replace(state, open_calls=_with(state.open_calls, event.call_id, replace(call, plan=event)))
    if event.message_seq is None:
        return state
    return _reassigned(state, event.message_seq, event.goal_id)


def _edited(state: SessionState, edits: Iterable[PlanEdit]) -> SessionState:
    edits = tuple(edits)
    ended = tuple(e.id for e in edits if isinstance(e, (GoalCompleted, GoalAbandoned)))
    return replace(
        state,
        tree=apply_edits(state.tree, edits),
        ended_goals=state.ended_goals + tuple(i for i in ended if i not in state.ended_goals),
    )


def _reassigned(state: SessionState, message_seq: Seq, goal_id: GoalId | None) -> SessionState:
    """Give a message and everything said after it in its turn to another goal."""
    log = state.log
    moved: dict[Seq, ContextId] = {}
    for index in range(len(log) - 1, -1, -1):
        entry = log[index]
        if entry.seq < message_seq:
            break
        moved[entry.seq] = entry.message.context
        log = log.replaced(index, replace(entry, message=replace(entry.message, goal_id=goal_id)))
    views = state.views
    for context in set(moved.values()):
        seqs = frozenset(seq for seq, owner in moved.items() if owner == context)
        views = _with(views, context, reassign(state.view(context), seqs, goal_id))
    open_calls = MappingProxyType(
        {
            k: replace(v, goal_id=goal_id) if v.message_seq >= message_seq else v
            for k, v in state.open_calls.items()
        }
    )
    return replace(state, log=log, views=views, open_calls=open_calls)


def _folded(state: SessionState, event: MessagesFolded) -> SessionState:
    view = fold_view(state.view(event.context), event.context, event.folds, event.reason)
    folded = {fold.goal_id for fold in event.folds}
    below = {g.id for i in folded if i and (goal := state.tree.find(i)) for g in goal.walk()}
    return replace(
        state,
        views=_with(state.views, event.context, view),
        ended_goals=tuple(i for i in state.ended_goals if i not in below),
    )


def _call_started(state: SessionState, event: CallStarted) -> SessionState:
    call = state.open_calls.get(event.call_id)
    if call is None:
        return state
    return replace(state, open_calls=_with(state.open_calls, event.call_id, replace(call, started=event)))


def _run_changed(state: SessionState, event: RunStatusChanged) -> SessionState:
    state = replace(state, status=event.status, reason=event.reason, cause=event.cause)
    if event.status == "running" and event.cwd:
        state = replace(state, facts=event)
    if event.model:
        state = replace(state, model=event.model)
    return replace(state, mode=event.mode) if event.mode else state


def _approval_changed(state: SessionState, event: ApprovalChanged) -> SessionState:
    call = state.open_calls.get(event.call_id)
    if call is not None:
        state = replace(
            state, open_calls=_with(state.open_calls, event.call_id, replace(call, approval=event))
        )
    return replace(state, denials=(*state.denials, event)) if event.state == "denied" else state


def _context_changed(state: SessionState, event: ContextChanged) -> SessionState:
    state = replace(state, contexts=_with(state.contexts, event.context, event))
    if event.action in ("opened", "switched"):
        state = replace(state, active_context=event.context)
    if event.model:
        state = replace(state, model=event.model)
    return replace(state, mode=event.mode) if event.mode else state


def _comment_routed(state: SessionState, event: CommentRouted) -> SessionState:
    waiting = MappingProxyType({k: v for k, v in state.comments.items() if k != event.comment_id})
    return _edited(replace(state, comments=waiting), event.edits)


__all__ = ["GoalStats", "LoggedMessage", "OpenCall", "SessionState", "reduce", "reduce_all"]
