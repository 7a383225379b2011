"""The state of a session as one frozen value, and the open form in which the next one is made.

Must not know what a record does; `state` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Final, Literal, TypeVar, get_args

from tori_tui.domain.branches import Branch
from tori_tui.domain.events import (
    ApprovalChanged,
    CheckpointSaved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    ErrorOccurred,
    Mode,
    RunCause,
    RunStatus,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.goal_comments import GoalComment
from tori_tui.domain.goal_stats import GoalStats
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import (
    MAIN_CONTEXT,
    NEVER,
    ApprovalId,
    BranchId,
    CallId,
    CommentId,
    ContextId,
    GoalId,
    Seq,
)
from tori_tui.domain.log import Log
from tori_tui.domain.logged import LoggedMessage, OpenCall
from tori_tui.domain.moments import Past
from tori_tui.domain.request import Effort
from tori_tui.domain.usage import Usage
from tori_tui.domain.view import View

FIRST_SEQ = Seq(1)

K = TypeVar("K")
V = TypeVar("V")


def _nothing() -> Mapping[K, V]:
    return MappingProxyType({})


def narrower(mode: Mode | Literal[""], other: Mode | Literal[""]) -> Mode | Literal[""]:
    """Return the mode of the two that allows less; an empty one says nothing."""
    return min(mode, other, key=get_args(Mode).index) if mode and other else mode or other


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
    effort: Effort = ""
    """What the user chose; a model that does not take it goes by its own."""
    tree: GoalTree = field(default_factory=GoalTree)
    log: Log[LoggedMessage] = field(default_factory=Log)
    views: Mapping[ContextId, View] = field(default_factory=_nothing)
    contexts: Mapping[ContextId, ContextChanged] = field(default_factory=_nothing)
    """The open ones, each with its agent, its agent's own model and the mode that its agent is held to."""
    active_context: ContextId = MAIN_CONTEXT
    home_context: ContextId = MAIN_CONTEXT
    """Which one the user chose; it works again when a goal that another agent was lent to has ended."""
    lent_to: GoalId | None = None
    """The goal for which the active context works; None where the user chose it."""
    switched_at: Seq = NEVER
    """The record of the newest switch of contexts."""
    memory: Mapping[str, str] = field(default_factory=_nothing)
    """What the session remembers for all its contexts, in the order in which the keys came."""
    told_memory: Mapping[ContextId, Mapping[str, str]] = field(default_factory=_nothing)
    """What of it each context is told; brought up to date at a switch, a rewrite and by the user."""
    n_turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    has_unpriced_turns: bool = False
    last_turns: Mapping[ContextId, TurnFinished] = field(default_factory=_nothing)
    goal_stats: Mapping[GoalId | None, GoalStats] = field(default_factory=_nothing)
    open_calls: Mapping[CallId, OpenCall] = field(default_factory=_nothing)
    """In the order in which the model wrote them."""
    approvals: Mapping[ApprovalId, ApprovalChanged] = field(default_factory=_nothing)
    """Asked and not answered, in order; those of branches among them."""
    branches: Mapping[BranchId, Branch] = field(default_factory=_nothing)
    """Of all `explore` calls, in the order in which they were planned."""
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
    goal_comments: Mapping[GoalId, tuple[GoalComment, ...]] = field(default_factory=_nothing)
    """What the user said about each goal, also where a rewind took it out of the conversation."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def view(self, context: ContextId) -> View:
        """Return the view of a context; an empty one if nothing was said in it."""
        return self.views.get(context) or View()

    @property
    def agent(self) -> str:
        """The name of the agent that works."""
        context = self.contexts.get(self.active_context)
        return context.agent if context else "build"

    @property
    def model_in_force(self) -> str:
        """The model of the next request: the agent's own, or the session's."""
        context = self.contexts.get(self.active_context)
        return (context.model if context else "") or self.model

    @property
    def mode_in_force(self) -> Mode | Literal[""]:
        """The user's mode, or the agent's where that allows less; empty before the first run."""
        context = self.contexts.get(self.active_context)
        return narrower(self.mode, context.mode) if context else self.mode

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
class Draft:
    """A state in the making: the same fields, open to change, and never seen by anybody else."""

    next_seq: Seq
    status: RunStatus
    reason: str
    cause: RunCause
    facts: RunStatusChanged | None
    model: str
    mode: Mode | str
    effort: Effort
    tree: GoalTree
    log: Log[LoggedMessage]
    views: dict[ContextId, View]
    contexts: dict[ContextId, ContextChanged]
    active_context: ContextId
    home_context: ContextId
    lent_to: GoalId | None
    switched_at: Seq
    memory: dict[str, str]
    told_memory: dict[ContextId, Mapping[str, str]]
    n_turns: int
    usage: Usage
    cost_usd: float
    has_unpriced_turns: bool
    last_turns: dict[ContextId, TurnFinished]
    goal_stats: dict[GoalId | None, GoalStats]
    open_calls: dict[CallId, OpenCall]
    approvals: dict[ApprovalId, ApprovalChanged]
    branches: dict[BranchId, Branch]
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
    goal_comments: dict[GoalId, tuple[GoalComment, ...]]
    created_at: datetime | None
    updated_at: datetime | None


_read_fields: Final = attrgetter(*(f.name for f in fields(SessionState)))

_MAPPINGS: Final = tuple(
    at for at, value in enumerate(_read_fields(SessionState())) if isinstance(value, Mapping)
)
"""Where the fields stand that a draft may change in place."""


def thawed(state: SessionState) -> Draft:
    """Return a draft of the next state."""
    values = list(_read_fields(state))
    for at in _MAPPINGS:
        values[at] = dict(values[at])
    return Draft(*values)


def frozen(draft: Draft) -> SessionState:
    """Return the state that a draft has become."""
    values = list(_read_fields(draft))
    for at in _MAPPINGS:
        values[at] = MappingProxyType(values[at])
    return SessionState(*values)


__all__ = ["FIRST_SEQ", "Draft", "SessionState", "frozen", "narrower", "thawed"]
