"""The state of a session, and the pure function that makes it from the trace's records.

Must not read a clock, a file or a random number; folding the same records gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import assert_never

from tori_tui.domain.branches import branch_after
from tori_tui.domain.comment_line import moved
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
from tori_tui.domain.goal_comments import with_comment, with_routing
from tori_tui.domain.goal_stats import GoalStats
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, ContextId, GoalId, Seq
from tori_tui.domain.logged import LoggedMessage, OpenCall
from tori_tui.domain.messages import Message
from tori_tui.domain.moments import IDLE, Moment, tree_back, views_back
from tori_tui.domain.plan_edits import GoalAbandoned, GoalCompleted, MissionOpened, PlanEdit, apply_edits
from tori_tui.domain.session_state import FIRST_SEQ, Draft, SessionState, frozen, thawed
from tori_tui.domain.view import View, add_message, cleared, fold_view, reassign


def reduce(state: SessionState, record: Record) -> SessionState:
    """Return the state after one record. Pure and total: no record of a known kind stops it."""
    return reduce_all((record,), state)


def reduce_all(records: Iterable[Record], state: SessionState | None = None) -> SessionState:
    """Fold records, in order, into a state; for many, much faster than one after the other."""
    draft = thawed(state or SessionState())
    record = None
    for record in records:
        draft.created_at = draft.created_at or record.at
        _apply(draft, record)
    if record is not None:
        draft.next_seq = Seq(record.seq + 1)
        draft.updated_at = record.at
    return frozen(draft)


def _apply(draft: Draft, record: Record) -> None:
    event = record.event
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
            _change_context(draft, event, record.seq)
        case CommentReceived():
            draft.comments[event.comment_id] = event
            draft.goal_comments = with_comment(draft.goal_comments, event, record.at)
        case CommentMoved():
            draft.comments = moved(draft.comments, event)
        case CommentRouted():
            received = draft.comments.get(event.comment_id)
            draft.goal_comments = with_routing(
                draft.goal_comments, event, received, record.at, draft.tree.current_id
            )
            _route_comment(draft, event, record.seq)
        case CheckpointSaved():
            draft.last_checkpoint = event
            draft.past = draft.past.with_checkpoint(record.seq, record.at, event)
        case Rewound():
            _rewind(draft, event, record.seq)
        case BranchChanged():
            _change_branch(draft, event, record.seq)
        case SessionNamed() | MemoryChanged() | ErrorOccurred():
            _note(draft, event)
        case _:
            assert_never(event)


def _note(draft: Draft, event: SessionNamed | MemoryChanged | ErrorOccurred) -> None:
    match event:
        case SessionNamed():
            draft.name = event.name
        case MemoryChanged():
            _remember(draft, event)
        case ErrorOccurred():
            draft.last_error = event
        case _:
            assert_never(event)


def _route_comment(draft: Draft, event: CommentRouted, seq: Seq) -> None:
    if event.is_withdrawn:
        draft.comments.pop(event.comment_id, None)
        return
    if event.comment_id in draft.comments:
        draft.routed[event.comment_id] = event
    _edit(draft, event.edits, seq)
    _note_moment(draft, seq, is_turn=False)


def _add_message(draft: Draft, seq: Seq, at: datetime, message: Message) -> None:
    context, goal_id = message.context, message.goal_id
    if (message.role == "assistant" or message.is_users_word) and not draft.open_calls:
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
            if draft.approvals:
                _forget_approvals(draft, message.tool_call_id)
    if message.tool_calls and not message.interrupted:
        for call in message.tool_calls:
            draft.open_calls[call.id] = OpenCall(call, seq, context, goal_id)


def _finish_turn(draft: Draft, event: TurnFinished) -> None:
    draft.n_turns = max(draft.n_turns, event.number)
    draft.usage = draft.usage + event.usage
    draft.cost_usd += event.cost_usd or 0.0
    draft.has_unpriced_turns = draft.has_unpriced_turns or event.cost_usd is None
    draft.last_turns[event.context] = event
    stats = draft.goal_stats.get(event.goal_id) or GoalStats()
    draft.goal_stats[event.goal_id] = stats.with_turn(event)


def _change_plan(draft: Draft, event: PlanChanged, seq: Seq) -> None:
    _edit(draft, event.edits, seq)
    if event.author == "user":
        draft.n_user_edits += 1
    if event.call_id is not None and (call := draft.open_calls.get(event.call_id)):
        draft.open_calls[event.call_id] = replace(call, plan=event)
    if event.message_seq is not None:
        _reassign(draft, event.message_seq, event.goal_id)
    if event.edits:
        _note_moment(draft, seq, is_turn=False)


def _note_moment(draft: Draft, seq: Seq, *, is_turn: bool) -> None:
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
        contexts=draft.contexts,
        active_context=draft.active_context,
        home_context=draft.home_context,
        lent_to=draft.lent_to,
        switched_at=draft.switched_at,
        memory=draft.memory,
        ended_goals=draft.ended_goals,
        ended_at=draft.ended_at,
        goal_ended_at_turn=draft.goal_ended_at_turn,
        root_ended_at_turn=draft.root_ended_at_turn,
        lost=draft.past.lost,
        end=_end_of_run(draft),
    )
    draft.past = draft.past.with_moment(moment)


def _end_of_run(draft: Draft) -> RunStatusChanged:
    if draft.status in ("running", "waiting"):
        return IDLE
    return RunStatusChanged(draft.status, draft.reason, draft.cause)


def _rewind(draft: Draft, event: Rewound, seq: Seq) -> None:
    moment = draft.past.moment_at(event.to_seq)
    _note_moment(draft, Seq(seq - 1), is_turn=False)
    draft.past = draft.past.after(event, seq, moment)
    if moment is None or not event.messages:
        return
    if draft.status not in ("running", "waiting"):
        # How the last run ended is taken back with it: there may be work to go on with, or none any more.
        draft.status, draft.reason, draft.cause = moment.end.status, moment.end.reason, moment.end.cause
    draft.views = views_back(draft.views, moment.views)
    draft.tree = tree_back(draft.tree, moment.tree)
    draft.contexts = dict(moment.contexts)
    draft.active_context, draft.home_context = moment.active_context, moment.home_context
    draft.lent_to, draft.switched_at = moment.lent_to, moment.switched_at
    draft.memory = dict(moment.memory)
    draft.told_memory = dict.fromkeys(draft.views, MappingProxyType(draft.memory))
    draft.ended_goals = moment.ended_goals
    draft.ended_at = dict(moment.ended_at)
    draft.goal_ended_at_turn = moment.goal_ended_at_turn
    draft.root_ended_at_turn = moment.root_ended_at_turn


def _edit(draft: Draft, edits: tuple[PlanEdit, ...], seq: Seq) -> None:
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


def _reassign(draft: Draft, message_seq: Seq, goal_id: GoalId | None) -> None:
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


def _fold(draft: Draft, event: MessagesFolded) -> None:
    view = draft.views.get(event.context) or View()
    folded_view = fold_view(view, event.context, event.folds, event.reason)
    draft.views[event.context] = folded_view
    _tell_memory(draft, event.context)
    if not draft.ended_goals:
        return
    # Nothing of it is left to fold: it is no longer marked.
    unfolded = {entry.message.goal_id for entry in folded_view.entries if not entry.is_fold}
    folded = {fold.goal_id for fold in event.folds if not fold.is_result}
    below = {g.id for i in folded if i and (goal := draft.tree.find(i)) for g in goal.walk()}
    draft.ended_goals = tuple(i for i in draft.ended_goals if i not in below or i in unfolded)


def _start_call(draft: Draft, event: CallStarted, seq: Seq) -> None:
    call = draft.open_calls.get(event.call_id)
    if call is not None:
        draft.open_calls[event.call_id] = call.with_start(event)
    if event.files:
        draft.past = draft.past.with_writes(seq, event.files)


def _change_run(draft: Draft, event: RunStatusChanged) -> None:
    draft.status, draft.reason, draft.cause = event.status, event.reason, event.cause
    draft.parent = event.parent or draft.parent
    if event.status not in ("running", "waiting") or event.cwd:
        # Whoever waited for an answer is gone.
        draft.approvals.clear()
    if event.status == "running" and event.cwd:
        draft.facts = event
    draft.model = event.model or draft.model
    draft.mode = event.mode or draft.mode


def _change_approval(draft: Draft, event: ApprovalChanged) -> None:
    call = draft.open_calls.get(event.call_id)
    if call is not None:
        draft.open_calls[event.call_id] = replace(call, approval=event)
    if event.state == "asked":
        draft.approvals[event.approval_id] = event
    else:
        draft.approvals.pop(event.approval_id, None)
    if event.state == "denied":
        draft.denials = (*draft.denials, event)


def _forget_approvals(draft: Draft, call_id: CallId) -> None:
    for asked in [asked for asked in draft.approvals.values() if asked.call_id == call_id]:
        del draft.approvals[asked.approval_id]


def _change_branch(draft: Draft, event: BranchChanged, seq: Seq) -> None:
    branch = branch_after(draft.branches.get(event.branch_id), event, seq, draft.tree.mission)
    if branch is None:
        return
    draft.branches[event.branch_id] = branch
    if event.action == "turn":
        draft.usage = draft.usage + event.usage
        draft.cost_usd += event.cost_usd or 0.0
        draft.has_unpriced_turns = draft.has_unpriced_turns or event.cost_usd is None
        stats = draft.goal_stats.get(branch.goal_id) or GoalStats()
        draft.goal_stats[branch.goal_id] = stats.with_branch_turn(event)


def _change_context(draft: Draft, event: ContextChanged, seq: Seq) -> None:
    context = event.context
    known = draft.contexts.get(context)
    # New ones, never changed in place: the moments of the past share them.
    match event.action:
        case "opened":
            draft.contexts = {**draft.contexts, context: event}
        case "switched":
            _note_moment(draft, Seq(seq - 1), is_turn=False)
            draft.contexts = {**draft.contexts, context: event}
            draft.active_context, draft.switched_at = context, seq
            draft.lent_to = event.goal_id
            draft.home_context = context if event.goal_id is None else draft.home_context
            _tell_memory(draft, context)
        case "configured":
            if known is not None and known.model and event.model:
                draft.contexts = {**draft.contexts, context: replace(known, model=event.model)}
            else:
                draft.model = event.model or draft.model
            draft.mode = event.mode or draft.mode
            if event.effort:
                draft.effort = "" if event.effort == "default" else event.effort
        case "closed":
            draft.contexts = {i: opened for i, opened in draft.contexts.items() if i != context}
            draft.views[context] = cleared(draft.views.get(context) or View())
            draft.told_memory.pop(context, None)
            if draft.home_context == context:
                draft.home_context = MAIN_CONTEXT
            if draft.active_context == context:
                draft.active_context, draft.lent_to = draft.home_context, None
        case _:
            assert_never(event.action)


def _remember(draft: Draft, event: MemoryChanged) -> None:
    """Change what the session remembers; a fact lives in the project's memory instead."""
    if event.layer == "project":
        return
    if event.action == "set":
        draft.memory = {**draft.memory, event.key: event.text}
        if event.by == "user":
            _tell_memory(draft, draft.active_context)
        return
    draft.memory = _without(draft.memory, event.key)
    # What is forgotten must not be told any more, whatever the cache costs.
    draft.told_memory = {
        context: MappingProxyType(_without(told, event.key)) for context, told in draft.told_memory.items()
    }


def _tell_memory(draft: Draft, context: ContextId) -> None:
    if draft.memory or context in draft.told_memory:
        draft.told_memory[context] = MappingProxyType(draft.memory)


def _without(entries: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: text for name, text in entries.items() if name != key}


__all__ = [
    "FIRST_SEQ",
    "GoalStats",
    "LoggedMessage",
    "OpenCall",
    "SessionState",
    "reduce",
    "reduce_all",
]
