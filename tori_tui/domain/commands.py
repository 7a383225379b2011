"""What a front end may ask of the runner: plain data, imperative.

Must not hold callbacks or futures; what came of a command is told by events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.events import Mode
from tori_tui.domain.ids import ApprovalId, BranchId, CommentId, FactId, GoalId, QuestionId
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.routing import Verdict
from tori_tui.domain.value import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SubmitPrompt(Value):
    """Open the next mission (or go on with the present one) in an idle session."""

    text: str
    check: str | None = None
    continues: bool = False
    """Keep the mission: the text is one more word on it."""
    images: tuple[ContentPart, ...] = ()
    """What is shown with it, in the order in which the text names them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ContinueRun(Value):
    """Go on with the mission where it stopped, without a further word."""

    check: str | None = None
    """A check of the mission from now on; None leaves what it has."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AddComment(Value):
    """Say something while a run is going on; in an idle session it is a prompt."""

    comment_id: CommentId
    text: str
    aim: str = ""
    images: tuple[ContentPart, ...] = ()
    """As a prompt's."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RouteComment(Value):
    """Say where a comment falls in the plan; decided again on the newest state."""

    comment_id: CommentId
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecideApproval(Value):
    """Answer a permission question."""

    approval_id: ApprovalId
    allow: bool
    reason: str = ""
    scope: Literal["once", "goal", "session", "always"] = "once"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerQuestion(Value):
    """Answer what the model or a limit asked."""

    question_id: QuestionId
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InterruptRun(Value):
    """Stop the stream and the tools; the session stays."""

    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EditPlan(Value):
    """Apply the user's own edits to the plan."""

    edits: tuple[PlanEdit, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwitchModel(Value):
    """Use another model from the next request on."""

    model: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwitchEffort(Value):
    """Let the model think more or less from the next request on, where it can be told."""

    effort: EffortChoice


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwitchMode(Value):
    """Use another permission mode from the next call on."""

    mode: Mode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwitchAgent(Value):
    """Let another agent work from the next safe point on."""

    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CloseContext(Value):
    """Close an agent's context in the idle session; the agent may write down what is worth keeping."""

    agent: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remember(Value):
    """Keep an entry of the session's memory; an empty text removes it."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchMemory(Value):
    """Show the facts of the project that have all of these words; without words, the newest."""

    words: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForgetFact(Value):
    """Forget a fact of the project, for good."""

    fact_id: FactId


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RewindTo(Value):
    """Go back to where a goal was begun or to before a turn; a run that goes on is interrupted first."""

    goal: GoalId | None = None
    turn: int | None = None
    files: bool = True
    messages: bool = True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UndoRewind(Value):
    """Undo the newest rewind, files and messages as it took them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RedoRewind(Value):
    """Redo the rewind that was undone last."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CompactContext(Value):
    """Fold the active context's older messages now; in a run before its next request."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StopBranch(Value):
    """Let one branch of the explore call under way wind down; the others go on."""

    branch_id: BranchId


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithdrawComment(Value):
    """Take a comment back that has had no effect yet."""

    comment_id: CommentId


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MoveComment(Value):
    """Let a comment that waits take its effect before another one that waits."""

    comment_id: CommentId
    before: CommentId | None = None
    """None is behind all others."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunShell(Value):
    """Run a command of the user's own in the work tree."""

    text: str
    is_private: bool = False
    """Keep it and what it prints from the model."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RenameSession(Value):
    """Give the session a name for lists; empty takes it away."""

    name: str


Command = (
    SubmitPrompt
    | ContinueRun
    | AddComment
    | RouteComment
    | DecideApproval
    | AnswerQuestion
    | InterruptRun
    | EditPlan
    | SwitchModel
    | SwitchEffort
    | SwitchMode
    | SwitchAgent
    | CloseContext
    | Remember
    | SearchMemory
    | ForgetFact
    | RewindTo
    | UndoRewind
    | RedoRewind
    | CompactContext
    | StopBranch
    | RenameSession
    | RunShell
    | WithdrawComment
    | MoveComment
)

__all__ = [
    "AddComment",
    "AnswerQuestion",
    "CloseContext",
    "Command",
    "CompactContext",
    "ContinueRun",
    "DecideApproval",
    "EditPlan",
    "ForgetFact",
    "InterruptRun",
    "MoveComment",
    "RedoRewind",
    "Remember",
    "RenameSession",
    "RewindTo",
    "RouteComment",
    "RunShell",
    "SearchMemory",
    "StopBranch",
    "SubmitPrompt",
    "SwitchAgent",
    "SwitchEffort",
    "SwitchMode",
    "SwitchModel",
    "UndoRewind",
    "WithdrawComment",
]
