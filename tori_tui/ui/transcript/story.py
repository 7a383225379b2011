"""The session as a growing list of blocks: records and events in, changed blocks out.

Must not draw; nothing here depends on a width, a colour or a widget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from tori_tui.domain.events import (
    ApprovalChanged,
    BranchChanged,
    CallStarted,
    CallStreamed,
    CheckpointSaved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    ErrorOccurred,
    MemoryChanged,
    MessageAdded,
    MessagesFolded,
    NoticeShown,
    PlanChanged,
    QuestionAsked,
    Record,
    ReplyDiscarded,
    RequestStarted,
    RetryScheduled,
    Rewound,
    RunStatusChanged,
    SessionNamed,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
    TransientEvent,
    TurnFinished,
)
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import CallId, GoalId
from tori_tui.domain.messages import SHELL, Message, ToolCall
from tori_tui.domain.plan_edits import GoalFocused, MissionOpened
from tori_tui.domain.rewind_words import rewind_told
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.render.wording import branch_in_words, edits_in_words, memory_in_words
from tori_tui.ui.transcript.block_list import BlockList, Change
from tori_tui.ui.transcript.blocks import (
    Block,
    CallBlock,
    CallState,
    FoldBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
)
from tori_tui.ui.transcript.comments import Comments
from tori_tui.ui.transcript.reply import Reply
from tori_tui.ui.transcript.shell_blocks import ended_shell_block, shell_block

OUTPUT_TAIL_CHARS: Final = 20_000
"""What is kept of a running command's output: some screens; the whole stands in its file."""


_STATE_OF_APPROVAL: Final[dict[str, CallState]] = {
    "asked": "asked",
    "denied": "denied",
    "allowed": "waiting",
}


class Story:
    """Tells what happened as blocks. Keys only grow; a block keeps its key for life."""

    def __init__(self) -> None:
        self._list = BlockList()
        self._reply = Reply(self._list)
        self._calls: dict[CallId, int] = {}
        self._comments = Comments(self._list)
        self._retry: int | None = None
        self._goal: GoalId | None = None

    @property
    def blocks(self) -> Sequence[tuple[int, Block]]:
        """Every block with its key, in order."""
        return self._list.items

    def take_changes(self) -> list[Change]:
        """Return what changed since the last call, in order."""
        return self._list.take_changes()

    def tell_state(self, state: SessionState, records: Sequence[Record] = ()) -> None:
        """Begin anew from a state and what led to it; from the state alone only what was said."""
        self._list.clear()
        self._calls.clear()
        self._comments.forget()
        self._reply.forget()
        self._retry = self._goal = None
        if records:
            self.tell_records(records, SessionState())
            return
        for entry in state.live_log:
            self._enter_goal(entry.message.goal_id, state.tree)
            self._message(entry.message)
        for open_call in state.open_calls.values():
            if open_call.approval is not None:
                self._approval(open_call.approval)
        for comment in state.comments.values():
            self._comments.received(comment, self._goal)

    def tell_records(self, records: Iterable[Record], state: SessionState) -> SessionState:
        """Go on with many durable events and return the state after them.

        Only a few kinds look at the state, and to make it anew for each takes most of the time.
        """
        waiting: list[Record] = []
        for record in records:
            waiting.append(record)
            if isinstance(record.event, (PlanChanged, Rewound)):
                state = self._tell_all(waiting, state)
                waiting.clear()
        return self._tell_all(waiting, state)

    def _tell_all(self, records: Sequence[Record], state: SessionState) -> SessionState:
        state = reduce_all(records, state)
        for record in records:
            self.tell_record(record, state)
        return state

    def tell_record(self, record: Record, state: SessionState) -> None:
        """Go on with a durable event and the state after it."""
        event = record.event
        match event:
            case MessageAdded():
                self._message(event.message)
            case PlanChanged():
                self._plan_changed(event, state.tree)
            case MessagesFolded():
                if any(fold.seqs and fold.text for fold in event.folds):
                    self._list.add(FoldBlock(event.reason, event.folds, self._goal))
            case RunStatusChanged():
                self._run_changed(event)
            case ApprovalChanged():
                self._approval(event)
            case CallStarted():
                self._change_call(event.call_id, state="running")
            case CommentReceived():
                self._comments.received(event, self._goal)
            case CommentRouted():
                self._comments.routed(event, self._goal)
            case ErrorOccurred():
                self._drop_retry()
                self._list.add(NoticeBlock(event.message, "error", event.hint, self._goal))
            case ContextChanged():
                self._context_changed(event)
            case TurnFinished():
                self._drop_retry()
            case MemoryChanged() | BranchChanged():
                self._note(_in_words(event))
            case CheckpointSaved() | SessionNamed():
                pass
            case Rewound():
                self._rewound(event, state)
            case _:
                assert_never(event)

    def tell_event(self, event: TransientEvent, now_s: float) -> None:
        """Go on with something that is shown while it happens.

        Args:
            event: What happens.
            now_s: The screen's own clock, for durations and countdowns.
        """
        match event:
            case TextStreamed():
                self._reply.add_text(event.text, self._goal)
            case ThinkingStreamed():
                self._reply.add_thinking(event.text, self._goal)
            case CallStreamed():
                self._reply.add_call(event, self._goal)
            case ToolOutputStreamed():
                self._stream_output(event)
            case ToolRunStarted() if event.name == SHELL:
                self._calls[event.call_id] = self._list.add(shell_block(event, self._goal, now_s))
            case ToolRunStarted():
                self._change_call(event.call_id, state="running", title=event.title, started_s=now_s)
            case RequestStarted():
                self._drop_retry()
                self._reply.drop()
            case ReplyDiscarded():
                self._reply.drop()
            case RetryScheduled():
                self._drop_retry()
                self._retry = self._list.add(
                    RetryBlock(event.reason, event.attempt, event.of_attempts, now_s + event.delay_s)
                )
                self.tick(now_s)
            case NoticeShown():
                self._list.add(NoticeBlock(event.text, event.level, goal_id=self._goal))
            case QuestionAsked():
                pass  # it has a bar of its own, and its answer comes as a message
            case _:
                assert_never(event)

    def _note(self, told: str) -> None:
        if told:
            self._list.add(NoticeBlock(told, "info", goal_id=self._goal))

    def tell_note(self, block: NoticeBlock) -> None:
        """Go on with a word of the app's own."""
        self._list.add(block)

    def tick(self, now_s: float) -> None:
        """Let countdowns go on; running calls are drawn with the clock and need no change."""
        if self._retry is None:
            return
        block = self._list.get(self._retry)
        if isinstance(block, RetryBlock):
            remaining_s = max(0, round(block.due_s - now_s))
            if remaining_s != block.remaining_s:
                self._list.put(self._retry, replace(block, remaining_s=remaining_s))

    @property
    def is_counting(self) -> bool:
        """Whether a retry counts down or a call runs, so that time changes the picture."""
        running = (self._list.get(key) for key in self._calls.values())
        return self._retry is not None or any(
            isinstance(block, CallBlock) and block.state == "running" for block in running
        )

    def _enter_goal(self, goal_id: GoalId | None, tree: GoalTree) -> None:
        if goal_id == self._goal:
            return
        self._goal = goal_id
        goal = tree.find(goal_id) if goal_id else None
        if goal is None:
            return
        if isinstance(self._list.get(self._list.last_key), GoalBlock):
            self._list.drop(self._list.last_key)  # nothing was done there
        self._list.add(GoalBlock(goal.id, goal.description))

    # ── messages ──

    def _message(self, message: Message) -> None:
        match message.role:
            case "assistant":
                self._assistant(message)
            case "tool":
                self._tool_result(message)
            case "user":
                self._user(message)
            case _:
                assert_never(message.role)

    def _user(self, message: Message) -> None:
        if message.is_told_again:
            return
        if message.origin == "comment":
            self._comments.said(message)
        elif SHELL in message.details:
            self._shell_ended(message)
        elif message.origin == "runner":
            self._list.add(NoticeBlock(message.text, "info", goal_id=message.goal_id))
        elif message.origin != "fold":
            self._list.add(PromptBlock(message.text, message.goal_id))

    def _shell_ended(self, message: Message) -> None:
        call_id = CallId(str(message.details[SHELL]))
        block = ended_shell_block(call_id, message)
        key = self._calls.get(call_id)
        if key is None:
            self._calls[call_id] = self._list.add(block)
        else:
            self._list.put(key, block)

    def _assistant(self, message: Message) -> None:
        keys = self._reply.become(message, [_call_block(call, message) for call in message.tool_calls])
        for call, key in zip(message.tool_calls, keys, strict=True):
            self._calls[call.id] = key

    def _tool_result(self, message: Message) -> None:
        if message.tool_call_id is None:
            return
        key = self._calls.get(message.tool_call_id)
        block = self._list.get(key)
        if not isinstance(block, CallBlock) or key is None:
            call = ToolCall(message.tool_call_id, message.name or "tool")
            block = _call_block(call, message)
            key = self._calls[message.tool_call_id] = self._list.add(block)
        state: CallState = "failed" if message.is_error else "done"
        self._list.put(
            key,
            replace(
                block,
                state="denied" if block.state == "denied" else state,
                output=message.text,
                details=message.details,
                duration_s=message.duration_s,
                full=message.full,
                started_s=None,
            ),
        )

    def _stream_output(self, event: ToolOutputStreamed) -> None:
        key = self._calls.get(event.call_id)
        block = self._list.get(key)
        if isinstance(block, CallBlock) and key is not None:
            output = (block.output + event.text)[-OUTPUT_TAIL_CHARS:]
            self._list.put(key, replace(block, output=output))

    def _drop_retry(self) -> None:
        self._list.drop(self._retry)
        self._retry = None

    # ── everything else ──

    def _change_call(
        self, call_id: CallId, *, state: CallState, title: str = "", started_s: float | None = None
    ) -> None:
        key = self._calls.get(call_id)
        block = self._list.get(key)
        if not isinstance(block, CallBlock) or key is None or block.state in ("done", "failed"):
            return
        block = replace(
            block,
            state=state,
            title=title or block.title,
            started_s=started_s if started_s is not None else block.started_s,
        )
        self._list.put(key, block)

    def _approval(self, event: ApprovalChanged) -> None:
        self._change_call(event.call_id, state=_STATE_OF_APPROVAL[event.state], title=event.title)
        key = self._calls.get(event.call_id)
        block = self._list.get(key)
        if isinstance(block, CallBlock) and key is not None and event.detail:
            self._list.put(key, replace(block, detail=event.detail))

    def _plan_changed(self, event: PlanChanged, tree: GoalTree) -> None:
        if event.author in ("user", "comment") and (text := edits_in_words(event.edits)):
            self._list.add(NoticeBlock(text, "info", goal_id=self._goal))
        for edit in event.edits:
            if isinstance(edit, GoalFocused):
                self._enter_goal(edit.id, tree)
            elif isinstance(edit, MissionOpened):
                self._enter_goal(None, tree)

    def _rewound(self, event: Rewound, state: SessionState) -> None:
        if event.messages:
            self.tell_state(state)
        self._list.add(NoticeBlock(rewind_told(event), "info", goal_id=self._goal))

    def _run_changed(self, event: RunStatusChanged) -> None:
        if event.status in ("running", "idle", "waiting"):
            return
        self._drop_retry()
        self._reply.drop()
        self._goal = None if event.status == "done" else self._goal
        self._list.add(RunBlock(event.status, event.reason, self._goal))

    def _context_changed(self, event: ContextChanged) -> None:
        match event.action:
            case "switched":
                parts = (f"goal {event.goal_id}" if event.goal_id else "", event.model)
                text = " · ".join([f"agent {event.agent}", *(part for part in parts if part)])
            case "configured":
                text = " · ".join(
                    part for part in (event.model, f"mode {event.mode}" if event.mode else "") if part
                )
            case "opened":
                text = ""
            case "closed":
                text = f"agent {event.agent} closed"
            case _:
                assert_never(event.action)
        if text:
            self._list.add(NoticeBlock(text, "info", goal_id=self._goal))


def _call_block(call: ToolCall, message: Message) -> CallBlock:
    state: CallState = "interrupted" if message.interrupted else "waiting"
    return CallBlock(
        call.id, call.name, call.arguments, call.arguments_raw, state=state, goal_id=message.goal_id
    )


def _in_words(event: MemoryChanged | BranchChanged) -> str:
    return memory_in_words(event) if isinstance(event, MemoryChanged) else branch_in_words(event)


__all__ = ["OUTPUT_TAIL_CHARS", "Change", "Story"]
