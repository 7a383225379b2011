"""The state of a session, and the pure function that makes it from the trace's records.

Must not read a clock, a file or a random number; folding the same records gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Final, Literal, TypeVar, assert_never, cast

from tori_tui.domain.events import (
    ApprovalChanged,
    CallStarted,
    CheckpointSaved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    ErrorOccurred,
    MemoryChanged,
    MessageAdded,
    MessagesFolded,
    Mode,
    PlanChanged,
    Record,
    Rewound,
    RunCause,
    RunStatus,
    RunStatusChanged,
    SessionNamed,
    TurnFinished,
)
from tori_tui.domain.goal_stats import GoalStats
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, CommentId, ContextId, GoalId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.logged import LoggedMessage, OpenCall
from tori_tui.domain.messages import Message
from tori_tui.domain.moments import Moment, Past, tree_back, views_back
from tori_tui.domain.plan_edits import GoalAbandoned, GoalCompleted, MissionOpened, PlanEdit, apply_edits
from tori_tui.domain.usage import Usage
from tori_tui.domain.view import View, add_message, fold_view, reassign

FIRST_SEQ = Seq(1)

K = TypeVar("K")
V = TypeVar("V")


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
    mode: Mode | Literal[""] = ""
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
    """Received and not in the context yet, in order."""
    routed: Mapping[CommentId, CommentRouted] = field(default_factory=_nothing)
    """Of those, the ones whose place is decided and whose plan edits are applied."""
    ended_goals: tuple[GoalId, ...] = ()
    """Marked: completed or abandoned and not folded yet, in the order of their end."""
    goal_ended_at_turn: int = -1
    """`n_turns` when a goal ended last."""
    root_ended_at_turn: int = -1
    """The same for a root goal, or a mission that another one followed."""
    ended_at: Mapping[GoalId, Seq] = field(default_factory=_nothing)
    """The record with which each goal ended."""
    denials: tuple[ApprovalChanged, ...] = ()
    n_user_edits: int = 0
    """How many times the user changed the plan himself."""
    last_error: ErrorOccurred | None = None
    last_checkpoint: CheckpointSaved | None = None
    past: Past = field(default_factory=Past)
    """Where the session can go back to."""
    parent: str = ""
    """The trace it was forked from."""
    name: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def view(self, context: ContextId) -> View:
        """Return the view of a context; an empty one if nothing was said in it."""
        return self.views.get(context) or View()

    @property
    def live_log(self) -> Sequence[LoggedMessage]:
        """What was said, without what a rewind took back."""
        if not self.past.lost:
            return self.log
        return [entry for entry in self.log if not self.past.is_lost(entry.seq)]

    def stats_of(self, goal_id: GoalId) -> GoalStats:
        """Return what a goal took, its children included."""
        goal = self.tree.find(goal_id)
        total = GoalStats()
        for part in goal.walk() if goal else ():
            total = total + self.goal_stats.get(part.id, GoalStats())
        return total


@dataclass(slots=True)
class _Draft:
    """A state in the making: the same fields, open to change, and never seen by anybody else."""

    next_seq: Seq
    status: RunStatus
    reason: str
    cause: RunCause
    facts: RunStatusChanged | None
    model: str
    mode: Mode | str
    tree: GoalTree
    log: Log[LoggedMessage]
    views: dict[ContextId, View]
    contexts: dict[ContextId, ContextChanged]
    active_context: ContextId
    n_turns: int
    usage: Usage
    cost_usd: float
    has_unpriced_turns: bool
    last_turns: dict[ContextId, TurnFinished]
    goal_stats: dict[GoalId | None, GoalStats]
    open_calls: dict[CallId, OpenCall]
    comments: dict[CommentId, CommentReceived]
    routed: dict[CommentId, CommentRouted]
    ended_goals: tuple[GoalId, ...]
    goal_ended_at_turn: int
    root_ended_at_turn: int
    ended_at: dict[GoalId, Seq]
    denials: tuple[ApprovalChanged, ...]
    n_user_edits: int
    last_error: ErrorOccurred | None
    last_checkpoint: CheckpointSaved | None
    past: Past
    parent: str
    name: str
    created_at: datetime | None
    updated_at: datetime | None


_read_fields: Final = attrgetter(*(f.name for f in fields(SessionState)))


def reduce(state: SessionState, record: Record) -> SessionState:
    """Return the state after one record. Pure and total: no record of a known kind stops it."""
    return reduce_all((record,), state)


def reduce_all(records: Iterable[Record], state: SessionState | None = None) -> SessionState:
    """Fold records, in order, into a state; for many, much faster than one after the other."""
    draft = _Draft(*map(_thawed, _read_fields(state or SessionState())))
    for record in records:
        _apply(draft, record)
    return SessionState(*map(_frozen, _read_fields(draft)))


def _thawed(value: V) -> V:
    return cast(V, dict(value)) if isinstance(value, (MappingProxyType, dict)) else value


def _frozen(value: V) -> V:
    return cast(V, MappingProxyType(value)) if isinstance(value, dict) else value


def _apply(draft: _Draft, record: Record) -> None:
    event = record.event
    draft.next_seq = Seq(record.seq + 1)
    draft.created_at = draft.created_at or record.at
    draft.updated_at = record.at
    match event:
        case MessageAdded():
            _add_message(draft, record.seq, record.at, event.message)
        case TurnFinished():
            _finish_turn(draft, event)
        case PlanChanged():
            _change_plan(draft, event, record.seq)
        case MessagesFolded():
            _fold(draft, event)
        case CallStarted():
            _start_call(draft, event, record.seq)
        case RunStatusChanged():
            _change_run(draft, event)
        case ApprovalChanged():
            _change_approval(draft, event)
        case ContextChanged():
            _change_context(draft, event)
        case CommentReceived():
            draft.comments[event.comment_id] = event
        case CommentRouted():
            if event.comment_id in draft.comments:
                draft.routed[event.comment_id] = event
            _edit(draft, event.edits, record.seq)
            _note_moment(draft, record.seq, is_turn=False)
        case CheckpointSaved():
            draft.last_checkpoint = event
            draft.past = draft.past.with_checkpoint(record.seq, record.at, event)
        case Rewound():
            _rewind(draft, event, record.seq)
        case SessionNamed() | MemoryChanged() | ErrorOccurred():
            _note(draft, event)
        case _:
            assert_never(event)


def _note(draft: _Draft, event: SessionNamed | MemoryChanged | ErrorOccurred) -> None:
    match event:
        case SessionNamed():
            draft.name = event.name
        case MemoryChanged():
            pass  # a fact lives in the project's memory, whatever becomes of this session
        case ErrorOccurred():
            draft.last_error = event
        case _:
            assert_never(event)


def _add_message(draft: _Draft, seq: Seq, at: datetime, message: Message) -> None:
    context, goal_id = message.context, message.goal_id
    if not draft.open_calls and (message.is_users_word or message.role == "assistant"):
        _note_moment(draft, Seq(seq - 1), is_turn=message.role == "assistant")
    draft.log = draft.log.appended(LoggedMessage(seq, at, draft.tree.mission, message))
    view = draft.views.get(context) or View()
    draft.views[context] = add_message(view, seq, message)
    if message.comment_id is not None and message.comment_id in draft.comments:
        del draft.comments[message.comment_id]
        draft.routed.pop(message.comment_id, None)
    if message.role == "tool":
        stats = draft.goal_stats.get(goal_id) or GoalStats()
        draft.goal_stats[goal_id] = stats.with_result(message)
        if message.tool_call_id is not None and message.tool_call_id in draft.open_calls:
            del draft.open_calls[message.tool_call_id]
    if message.tool_calls and not message.interrupted:
        draft.open_calls |= {call.id: OpenCall(call, seq, context, goal_id) for call in message.tool_calls}


def _finish_turn(draft: _Draft, event: TurnFinished) -> None:
    draft.n_turns = max(draft.n_turns, event.number)
    draft.usage = draft.usage + event.usage
    draft.cost_usd += event.cost_usd or 0.0
    draft.has_unpriced_turns = draft.has_unpriced_turns or event.cost_usd is None
    draft.last_turns[event.context] = event
    stats = draft.goal_stats.get(event.goal_id) or GoalStats()
    draft.goal_stats[event.goal_id] = stats.with_turn(event)


def _change_plan(draft: _Draft, event: PlanChanged, seq: Seq) -> None:
    _edit(draft, event.edits, seq)
    if event.author == "user":
        draft.n_user_edits += 1
    if event.call_id is not None and (call := draft.open_calls.get(event.call_id)):
        draft.open_calls[event.call_id] = replace(call, plan=event)
    if event.message_seq is not None:
        _reassign(draft, event.message_seq, event.goal_id)
    if event.edits:
        _note_moment(draft, seq, is_turn=False)


def _note_moment(draft: _Draft, seq: Seq, *, is_turn: bool) -> None:
    """Keep what a rewind to this record takes back."""
    views: Mapping[ContextId, View]
    if draft.open_calls and len(draft.past.moments):
        # In the middle of a turn: the view of its beginning, as a call without a result must not stay.
        views = draft.past.moments[-1].views
    else:
        views = MappingProxyType(dict(draft.views))
    moment = Moment(
        seq=seq,
        turn=draft.n_turns,
        is_turn=is_turn,
        tree=draft.tree,
        views=views,
        ended_goals=draft.ended_goals,
        ended_at=draft.ended_at,
        goal_ended_at_turn=draft.goal_ended_at_turn,
        root_ended_at_turn=draft.root_ended_at_turn,
        lost=draft.past.lost,
    )
    draft.past = draft.past.with_moment(moment)


def _rewind(draft: _Draft, event: Rewound, seq: Seq) -> None:
    moment = draft.past.moment_at(event.to_seq)
    _note_moment(draft, Seq(seq - 1), is_turn=False)
    draft.past = draft.past.after(event, seq, moment)
    if moment is None or not event.messages:
        return
    if draft.status not in ("running", "waiting"):
        # How the last run ended is taken back with it: there may be work to go on with.
        draft.status, draft.reason, draft.cause = "idle", "", ""
    draft.views = views_back(draft.views, moment.views)
    draft.tree = tree_back(draft.tree, moment.tree)
    draft.ended_goals = moment.ended_goals
    draft.ended_at = dict(moment.ended_at)
    draft.goal_ended_at_turn = moment.goal_ended_at_turn
    draft.root_ended_at_turn = moment.root_ended_at_turn


def _edit(draft: _Draft, edits: tuple[PlanEdit, ...], seq: Seq) -> None:
    ended = tuple(e.id for e in edits if isinstance(e, (GoalCompleted, GoalAbandoned)))
    if ended:
        draft.goal_ended_at_turn = draft.n_turns
    is_next_mission = draft.tree.mission is not None and any(isinstance(e, MissionOpened) for e in edits)
    draft.tree = apply_edits(draft.tree, edits)
    if is_next_mission or any(draft.tree.parent_of(goal_id) is None for goal_id in ended):
        draft.root_ended_at_turn = draft.n_turns
    draft.ended_goals += tuple(i for i in ended if i not in draft.ended_goals)
    # A new one, never changed in place: the moments of the past share it.
    if ended:
        draft.ended_at = {**draft.ended_at, **dict.fromkeys(ended, seq)}


def _reassign(draft: _Draft, message_seq: Seq, goal_id: GoalId | None) -> None:
    """Give a message and everything said after it in its turn to another goal."""
    start = len(draft.log)
    while start > 0 and draft.log[start - 1].seq >= message_seq:
        start -= 1
    tail = [replace(e, message=replace(e.message, goal_id=goal_id)) for e in draft.log[start:]]
    draft.log = draft.log.with_tail(start, tail)
    for context in {entry.message.context for entry in tail}:
        seqs = frozenset(entry.seq for entry in tail if entry.message.context == context)
        view = draft.views.get(context) or View()
        draft.views[context] = reassign(view, seqs, goal_id)
    for call_id, call in draft.open_calls.items():
        if call.message_seq >= message_seq:
            draft.open_calls[call_id] = replace(call, goal_id=goal_id)


def _fold(draft: _Draft, event: MessagesFolded) -> None:
    view = draft.views.get(event.context) or View()
    folded_view = fold_view(view, event.context, event.folds, event.reason)
    draft.views[event.context] = folded_view
    if not draft.ended_goals:
        return
    # Nothing of it is left to fold: it is no longer marked.
    unfolded = {entry.message.goal_id for entry in folded_view.entries if not entry.is_fold}
    folded = {fold.goal_id for fold in event.folds if not fold.is_result}
    below = {g.id for i in folded if i and (goal := draft.tree.find(i)) for g in goal.walk()}
    draft.ended_goals = tuple(i for i in draft.ended_goals if i not in below or i in unfolded)


def _start_call(draft: _Draft, event: CallStarted, seq: Seq) -> None:
    call = draft.open_calls.get(event.call_id)
    if call is not None:
        draft.open_calls[event.call_id] = replace(call, started=event)
    if event.files:
        draft.past = draft.past.with_writes(seq, event.files)


def _change_run(draft: _Draft, event: RunStatusChanged) -> None:
    draft.status, draft.reason, draft.cause = event.status, event.reason, event.cause
    draft.parent = event.parent or draft.parent
    if event.status == "running" and event.cwd:
        draft.facts = event
    draft.model = event.model or draft.model
    draft.mode = event.mode or draft.mode


def _change_approval(draft: _Draft, event: ApprovalChanged) -> None:
    call = draft.open_calls.get(event.call_id)
    if call is not None:
        draft.open_calls[event.call_id] = replace(call, approval=event)
    if event.state == "denied":
        draft.denials = (*draft.denials, event)


def _change_context(draft: _Draft, event: ContextChanged) -> None:
    draft.contexts[event.context] = event
    if event.action in ("opened", "switched"):
        draft.active_context = event.context
    draft.model = event.model or draft.model
    draft.mode = event.mode or draft.mode


__all__ = ["GoalStats", "LoggedMessage", "OpenCall", "SessionState", "reduce", "reduce_all"]
