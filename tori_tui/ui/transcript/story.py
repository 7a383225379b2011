"""The session as a growing list of blocks: records and events in, changed blocks out.

Must not draw; nothing here depends on a width, a colour or a widget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from tori_tui.domain.counted_path import counted_path
from tori_tui.domain.events import (
    ApprovalChanged,
    BranchChanged,
    CallStarted,
    CallStreamed,
    CheckpointSaved,
    CommentMoved,
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
from tori_tui.domain.ids import GoalId
from tori_tui.domain.messages import SHELL, Message
from tori_tui.domain.plan_edits import GoalFocused, MissionOpened, PlanEdit, apply_edits
from tori_tui.domain.plan_text import USER_EDITED
from tori_tui.domain.rewind_words import rewind_told
from tori_tui.domain.session_state import FIRST_SEQ
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.render.wording import branch_in_words, context_in_words, edits_in_words, memory_in_words
from tori_tui.ui.transcript.block_list import BlockList, Change
from tori_tui.ui.transcript.blocks import (
    Block,
    FoldBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
)
from tori_tui.ui.transcript.calls import Calls, call_block
from tori_tui.ui.transcript.checkpoints import SavedTrees
from tori_tui.ui.transcript.comments import Comments
from tori_tui.ui.transcript.reply import Reply

GOAL_TOOL: Final = "goal"


class Story:
    """Tells what happened as blocks, in the order in which it happened; replayed as it was live."""

    def __init__(self) -> None:
        self._list = BlockList()
        self._reply = Reply(self._list)
        self._calls = Calls(self._list)
        self._comments = Comments(self._list)
        self._saved = SavedTrees(self._list)
        self._retry: int | None = None
        self._goal: GoalId | None = None
        self._has_told_edits = False
        """Whether the user was told what he changed in the plan, and the model not yet."""
        self._told: list[Record] = []
        """What was told so far, also what was taken back: an undo brings it back."""
        self._is_whole = True
        """Nothing happened before what was told."""

    @property
    def blocks(self) -> Sequence[tuple[int, Block]]:
        """Every block with its key, in order."""
        return self._list.items

    @property
    def saved_trees(self) -> SavedTrees:
        """The checkpoints, for whoever can count what changed."""
        return self._saved

    def take_changes(self) -> list[Change]:
        """Return what changed since the last call, in order."""
        return self._list.take_changes()

    def tell_state(self, state: SessionState, records: Sequence[Record] = ()) -> None:
        """Begin anew from a state and what led to it; from the state alone only what was said."""
        self._begin()
        self._told = []
        self._is_whole = bool(records) or state.next_seq == FIRST_SEQ
        if records:
            self._tell_all(records, SessionState())
            return
        for entry in state.live_log:
            self._enter_goal(entry.message.goal_id, state.tree)
            self._message(entry.message)
        for open_call in state.open_calls.values():
            if open_call.approval is not None:
                self._calls.asked(open_call.approval)
        for comment in state.comments.values():
            self._comments.received(comment, self._goal)

    def _begin(self) -> None:
        self._list.clear()
        for part in (self._calls, self._comments, self._saved, self._reply):
            part.forget()
        self._retry = self._goal = None
        self._has_told_edits = False

    def tell_records(self, records: Sequence[Record], state: SessionState) -> SessionState:
        """Go on with many durable events and return the state after them."""
        self._tell_all(records, state)
        return reduce_all(records, state)

    def tell_more(self, records: Sequence[Record], state: SessionState) -> None:
        """Go on with many durable events where the state after them is known already."""
        self._tell_all(records, state)

    def _tell_all(self, records: Sequence[Record], state: SessionState) -> None:
        """Go on with many durable events, without the state after each: to make it takes most of the time."""
        tree, n_reduced = state.tree, 0
        for index, record in enumerate(records):
            match record.event:
                case PlanChanged() | CommentRouted():
                    tree = apply_edits(tree, record.event.edits)
                case Rewound():
                    state, n_reduced = reduce_all(records[n_reduced : index + 1], state), index + 1
                    tree = state.tree
                case _:
                    pass
            self._tell(record, tree, state)

    def tell_record(self, record: Record, state: SessionState) -> None:
        """Go on with a durable event and the state after it."""
        self._tell(record, state.tree, state)

    def _tell(self, record: Record, tree: GoalTree, state: SessionState) -> None:
        """Go on with a durable event, the tree after it and, where it is a rewind, the state after it."""
        self._told.append(record)
        event = record.event
        match event:
            case MessageAdded():
                self._message(event.message)
                self._saved.stands_at(record.seq)
            case PlanChanged():
                self._plan_changed(event, tree)
            case MessagesFolded():
                if any(fold.seqs and fold.text for fold in event.folds):
                    self._list.add(FoldBlock(event.reason, event.folds, self._goal))
            case RunStatusChanged():
                self._run_changed(event)
            case ApprovalChanged():
                self._calls.asked(event)
            case CallStarted():
                self._calls.started(event.call_id)
            case CommentReceived():
                self._comments.received(event, self._goal)
            case CommentRouted():
                self._comments.routed(event, self._goal)
                self._edited(event.edits, tree)
            case ErrorOccurred():
                self._drop_retry()
                self._list.add(NoticeBlock(event.message, "error", event.hint, self._goal))
            case TurnFinished():
                self._drop_retry()
            case ContextChanged() | MemoryChanged() | BranchChanged():
                self._note(_in_words(event))
            case CheckpointSaved():
                self._saved.saved(event, record.seq)
            case SessionNamed() | CommentMoved():
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
                self._calls.printed(event)
            case ToolRunStarted():
                self._calls.runs(event, self._goal, now_s)
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
        return self._retry is not None or self._calls.is_any_running

    def _enter_goal(self, goal_id: GoalId | None, tree: GoalTree, behind: int | None = None) -> None:
        """Begin a goal's part, behind the call that led there where one did."""
        if goal_id == self._goal:
            return
        self._goal = goal_id
        goal = tree.find(goal_id) if goal_id else None
        if goal is None:
            return
        if behind is None and isinstance(self._list.get(self._list.last_key), GoalBlock):
            self._list.drop(self._list.last_key)  # nothing was done there
        self._list.put_behind(behind, GoalBlock(goal.id, goal.description))

    # ── messages ──

    def _message(self, message: Message) -> None:
        match message.role:
            case "assistant":
                self._assistant(message)
            case "tool":
                self._calls.ended(message)
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
            self._calls.shell_ended(message)
        elif message.origin == "runner" and message.text.startswith(USER_EDITED) and self._has_told_edits:
            # The model reads here what the user was told when he did it.
            self._has_told_edits = False
        elif message.origin == "runner":
            self._list.add(NoticeBlock(message.text, "info", goal_id=message.goal_id))
        elif message.origin != "fold":
            self._list.add(PromptBlock(message.text, message.goal_id))

    def _assistant(self, message: Message) -> None:
        """Show a reply; its goal calls come first, as they run first."""
        calls = sorted(message.tool_calls, key=lambda call: call.name != GOAL_TOOL)
        blocks = [call_block(call, message) for call in calls]
        keys = self._reply.become(message, blocks, self._comments.followers)
        self._calls.stand_at(calls, keys)
        self._comments.follow()

    def _drop_retry(self) -> None:
        self._list.drop(self._retry)
        self._retry = None

    # ── everything else ──

    def _plan_changed(self, event: PlanChanged, tree: GoalTree) -> None:
        if event.author in ("user", "comment") and (text := edits_in_words(event.edits)):
            self._list.add(NoticeBlock(text, "info", goal_id=self._goal))
            self._has_told_edits = event.author == "user"
        self._edited(event.edits, tree, self._calls.key_of(event.call_id))

    def _edited(self, edits: Iterable[PlanEdit], tree: GoalTree, behind: int | None = None) -> None:
        for edit in edits:
            if isinstance(edit, GoalFocused):
                self._enter_goal(edit.id, tree, behind)
            elif isinstance(edit, MissionOpened):
                self._enter_goal(None, tree)

    def _rewound(self, event: Rewound, state: SessionState) -> None:
        if event.messages:
            if self._is_whole:
                self._tell_what_counts(state)
            else:
                self.tell_state(state)
            self._saved.go_on_from(state.last_checkpoint)
        self._list.add(NoticeBlock(rewind_told(event), "info", goal_id=self._goal))

    def _tell_what_counts(self, state: SessionState) -> None:
        """Tell anew what a rewind left, as it was told before."""
        told, path = self._told, counted_path(state)
        self._begin()
        self._told = []
        for record in told:
            if not path.is_rewound(record.seq) and not isinstance(record.event, Rewound):
                self._tell(record, state.tree, state)
        self._told = told

    def _run_changed(self, event: RunStatusChanged) -> None:
        if event.status in ("running", "idle", "waiting"):
            return
        self._drop_retry()
        self._reply.drop()
        self._calls.left_open()
        self._goal = None if event.status == "done" else self._goal
        self._list.add(RunBlock(event.status, event.reason, self._goal))


def _in_words(event: ContextChanged | MemoryChanged | BranchChanged) -> str:
    match event:
        case ContextChanged():
            return context_in_words(event)
        case MemoryChanged():
            return memory_in_words(event)
        case BranchChanged():
            return branch_in_words(event)


__all__ = ["Change", "Story"]
