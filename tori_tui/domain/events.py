"""What the runner says happened: durable events, which make the trace, and transient ones.

Plain data in the past tense. Must not hold futures, callables or anything that cannot be written down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from tori_tui.domain.branch_events import BranchChanged
from tori_tui.domain.comment_events import CommentMoved, CommentReceived, CommentRouted
from tori_tui.domain.context_events import ContextChanged, MemoryChanged, Mode
from tori_tui.domain.ids import (
    ApprovalId,
    CallId,
    ContextId,
    GoalId,
    Seq,
)
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.transient import (
    CallStreamed,
    NoticeShown,
    QuestionAsked,
    ReplyDiscarded,
    RequestStarted,
    RetryScheduled,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
    TransientEvent,
)
from tori_tui.domain.usage import Usage
from tori_tui.domain.value import Value, often_made

RunStatus = Literal["idle", "running", "waiting", "done", "failed", "incomplete", "interrupted", "limit"]

RunCause = Literal["", "provider", "abort", "loop", "limit", "goals_open", "check_red", "user", "runner"]

Author = Literal["model", "user", "comment", "runner"]


# ── durable: one record in the trace each ────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunStatusChanged(Value):
    """A run began, waits or ended. The facts of the surroundings stand in the `running` one."""

    kind: ClassVar[str] = "run"
    status: RunStatus
    reason: str = ""
    cause: RunCause = ""
    """Of an end that is not `done`: what kind of thing ended it."""
    model: str = ""
    mode: Mode | Literal[""] = ""
    cwd: str = ""
    git_head: str = ""
    tori_version: str = ""
    parent: str = ""
    """The trace it was forked from, or whose branch it is."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Section(Value):
    """A part of a request: what it was, how large, and which text (by content hash)."""

    name: str
    tokens: int
    sha256: str = ""
    seqs: tuple[Seq, ...] = ()


@often_made
class TurnFinished(Value):
    """A model request was answered (or failed): what was sent and what it cost."""

    kind: ClassVar[str] = "turn"
    number: int
    context: ContextId
    goal_id: GoalId | None
    model: str
    stop_reason: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    """None where the model's price is unknown."""
    latency_s: float = 0.0
    """From the request to the first byte of the answer."""
    duration_s: float = 0.0
    tries: int = 1
    rewrite: str | None = None
    """Why the request does not extend the one before it; None where it does."""
    sections: tuple[Section, ...] = ()


@often_made
class MessageAdded(Value):
    """A message was said, whole."""

    kind: ClassVar[str] = "message"
    message: Message


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanChanged(Value):
    """The goal tree changed, or a goal call was refused (then `edits` holds those before it).

    After a refusal `message_seq` and `goal_id` give the message that held the call to the goal
    that is really focused.
    """

    kind: ClassVar[str] = "plan"
    edits: tuple[PlanEdit, ...]
    author: Author
    call_id: CallId | None = None
    refused: str | None = None
    message_seq: Seq | None = None
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pin(Value):
    """Lines of a record that a fold shows word for word."""

    seq: Seq
    first: int
    """Of the record's text as lines, from 0."""
    end: int
    """The line behind the last one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fold(Value):
    """Messages of the view that were replaced, and the text that stands for them."""

    seqs: tuple[Seq, ...]
    text: str
    """Empty where nothing takes their place."""
    goal_id: GoalId | None = None
    pins: tuple[Pin, ...] = ()
    """What the text shows word for word; the next rewrite chooses anew among these lines."""
    is_result: bool = False
    """The text stands in the one tool message with that seq, which stays the result of its call."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MessagesFolded(Value):
    """The view of a context was rewritten: one record for the whole rewrite."""

    kind: ClassVar[str] = "fold"
    context: ContextId
    reason: str
    folds: tuple[Fold, ...]
    rule: str = ""
    """Which rule made the rewrite: `abandoned`, `batch`, `overflow`, `summary`; empty in old traces."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProcessRef(Value):
    """A process group that may outlive us, told apart from a later one with the same number."""

    pgid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat; 0 where the system does not tell."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileIntent(Value):
    """What a file tool is about to do to one file."""

    path: str
    """Relative to the work tree, with `/`."""
    before_sha256: str | None
    """None: the file does not exist."""
    after_sha256: str | None
    """None: the file is to be removed."""
    before_output: str | None = None
    """A file in `outputs/` with the bytes before."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallStarted(Value):
    """A tool call is about to have an effect; synced before it has."""

    kind: ClassVar[str] = "call_started"
    call_id: CallId
    name: str
    process: ProcessRef | None = None
    files: tuple[FileIntent, ...] = ()
    output: str | None = None
    """A file in `outputs/` to which a command writes."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CheckpointSaved(Value):
    """The work tree was saved."""

    kind: ClassVar[str] = "checkpoint"
    tree: str
    reason: str
    goal_id: GoalId | None = None
    turn: int = 0
    by: Literal["agent", "user"] = "user"
    """Who changed the tree since the checkpoint before."""
    at_seq: Seq | None = None
    """The newest record when the tree was looked at; it may be written down later."""
    left_out: tuple[str, ...] = ()
    """Files outside: larger than 5 MB, or not readable."""
    empty_folders: tuple[str, ...] = ()
    is_partial: bool = False
    """Only dirty and touched files were saved."""
    modes: str = ""
    """The object with the files' permissions that git does not keep; empty where all are usual."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rewound(Value):
    """The session went back to how it was after an earlier record; a later one may undo that."""

    kind: ClassVar[str] = "rewind"
    to_seq: Seq
    messages: bool = True
    """View, folds, plan and focus went back."""
    files: bool = False
    """The work tree went back."""
    how: Literal["rewind", "undo", "redo"] = "rewind"
    title: str = ""
    """Where it went back to, in words."""
    restored: tuple[str, ...] = ()
    """Paths that were taken back."""
    kept: tuple[str, ...] = ()
    """Paths that the user changed since; his state of them stands."""
    left_alone: tuple[str, ...] = ()
    """Paths that could not or must not be taken back."""
    outside: tuple[str, ...] = ()
    """Some of those that are never saved: ignored, too large, unreadable; a folder stands for all in it."""
    n_outside: int = 0
    """How many there are."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SessionNamed(Value):
    """The user gave the session a name for lists; empty takes it away."""

    kind: ClassVar[str] = "name"
    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ApprovalChanged(Value):
    """A permission question was asked or answered."""

    kind: ClassVar[str] = "approval"
    approval_id: ApprovalId
    call_id: CallId
    tool: str
    title: str
    state: Literal["asked", "allowed", "denied"]
    detail: str = ""
    """The whole command or diff, of an asked one."""
    reason: str = ""
    scope: Literal["once", "goal", "session", "always"] = "once"
    rules: tuple[str, ...] = ()
    """The rules that an answer for longer than once makes, as the configuration writes them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorOccurred(Value):
    """Something went wrong that the user should see."""

    kind: ClassVar[str] = "error"
    scope: Literal["provider", "tool", "trace", "limit", "runner"]
    message: str
    hint: str = ""
    status: int | None = None
    """The provider's HTTP status."""


DurableEvent = (
    RunStatusChanged
    | TurnFinished
    | MessageAdded
    | PlanChanged
    | MessagesFolded
    | CallStarted
    | CheckpointSaved
    | Rewound
    | SessionNamed
    | CommentReceived
    | CommentMoved
    | CommentRouted
    | ApprovalChanged
    | ContextChanged
    | MemoryChanged
    | BranchChanged
    | ErrorOccurred
)

DURABLE_EVENTS: tuple[type[DurableEvent], ...] = (
    RunStatusChanged,
    TurnFinished,
    MessageAdded,
    PlanChanged,
    MessagesFolded,
    CallStarted,
    CheckpointSaved,
    Rewound,
    SessionNamed,
    CommentReceived,
    CommentMoved,
    CommentRouted,
    ApprovalChanged,
    ContextChanged,
    MemoryChanged,
    BranchChanged,
    ErrorOccurred,
)


@often_made
class Record(Value):
    """A durable event with its place in the trace."""

    seq: Seq
    at: datetime
    """UTC, whole milliseconds."""
    event: DurableEvent


__all__ = [
    "DURABLE_EVENTS",
    "ApprovalChanged",
    "Author",
    "BranchChanged",
    "CallStarted",
    "CallStreamed",
    "CheckpointSaved",
    "CommentMoved",
    "CommentReceived",
    "CommentRouted",
    "ContextChanged",
    "DurableEvent",
    "ErrorOccurred",
    "FileIntent",
    "Fold",
    "MemoryChanged",
    "MessageAdded",
    "MessagesFolded",
    "Mode",
    "NoticeShown",
    "Pin",
    "PlanChanged",
    "ProcessRef",
    "QuestionAsked",
    "Record",
    "ReplyDiscarded",
    "RequestStarted",
    "RetryScheduled",
    "Rewound",
    "RunCause",
    "RunStatus",
    "RunStatusChanged",
    "Section",
    "SessionNamed",
    "TextStreamed",
    "ThinkingStreamed",
    "ToolOutputStreamed",
    "ToolRunStarted",
    "TransientEvent",
    "TurnFinished",
]
