"""What the transcript shows, as frozen values: one block for each thing that was said or done.

Must not know widths, colours or widgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tori_tui.domain.events import Fold
from tori_tui.domain.ids import CallId, CommentId, GoalId, Seq
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.value import Value, often_made

CallState = Literal["writing", "waiting", "asked", "running", "done", "failed", "denied", "interrupted"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PromptBlock(Value):
    """The user's words that opened a mission or went on with it."""

    text: str
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommentBlock(Value):
    """What the user said while a run was going on, and what came of it."""

    comment_id: CommentId | None
    text: str
    fate: str = ""
    """Where it went; empty while that is open."""
    note: str = ""
    """Why it went there, where that is not what was said of it."""
    goal_id: GoalId | None = None


@often_made
class AnswerBlock(Value):
    """The model's answer, whole or still growing."""

    text: str
    is_streaming: bool = False
    interrupted: bool = False
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThinkingBlock(Value):
    """The model's thinking, whole or still growing."""

    text: str
    is_streaming: bool = False
    goal_id: GoalId | None = None


@often_made
class CallBlock(Value):
    """A tool call with what came of it."""

    call_id: CallId | None
    """None while the model is still writing it."""
    name: str
    arguments: JsonObject = field(default_factory=dict)
    arguments_raw: str | None = None
    state: CallState = "waiting"
    title: str = ""
    """The tool's own title, once it runs."""
    output: str = ""
    details: JsonObject = field(default_factory=dict)
    detail: str = ""
    """The whole command or diff, of a call that had to be asked for."""
    duration_s: float | None = None
    started_s: float | None = None
    """When it began to run, on the screen's own clock."""
    full: str | None = None
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalBlock(Value):
    """Work on another goal begins here."""

    goal_id: GoalId | None
    description: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoldBlock(Value):
    """Finished work left the model's view; the text that stands for it."""

    reason: str
    folds: tuple[Fold, ...]
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoticeBlock(Value):
    """Something the user should know: an error with what to do, or a plain word of the runner's."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    hint: str = ""
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RetryBlock(Value):
    """A request failed and will be sent again."""

    reason: str
    attempt: int
    of_attempts: int
    due_s: float
    """When, on the screen's own clock."""
    remaining_s: int = 0
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunBlock(Value):
    """A run ended, and how."""

    status: str
    reason: str = ""
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CheckpointBlock(Value):
    """Files changed and were saved: a place to go back to."""

    seq: Seq
    """The newest record of which the saved tree is the state."""
    before: str
    """The tree of the checkpoint before."""
    tree: str
    turn: int
    by: Literal["agent", "user"]
    """Who changed them."""
    n_files: int | None = None
    """How many changed; None until somebody has counted."""
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileBlock(Value):
    """A file by itself, at a line."""

    path: str
    text: str
    line: int = 0
    """0 is none."""
    goal_id: GoalId | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DiffBlock(Value):
    """A diff by itself, of any number of files."""

    diff: str
    goal_id: GoalId | None = None


Block = (
    PromptBlock
    | CommentBlock
    | AnswerBlock
    | ThinkingBlock
    | CallBlock
    | GoalBlock
    | FoldBlock
    | NoticeBlock
    | RetryBlock
    | RunBlock
    | CheckpointBlock
    | DiffBlock
    | FileBlock
)

__all__ = [
    "AnswerBlock",
    "Block",
    "CallBlock",
    "CallState",
    "CheckpointBlock",
    "CommentBlock",
    "DiffBlock",
    "FileBlock",
    "FoldBlock",
    "GoalBlock",
    "NoticeBlock",
    "PromptBlock",
    "RetryBlock",
    "RunBlock",
    "ThinkingBlock",
]
