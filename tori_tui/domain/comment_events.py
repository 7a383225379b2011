"""What happens to the user's comments: received, moved in the line of those that wait, brought into effect.

Plain data in the past tense. Must not decide where a comment goes; `routing` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.value import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommentReceived(Value):
    """The user said something while a run was going on."""

    kind: ClassVar[str] = "comment"
    comment_id: CommentId
    text: str
    aim: str = ""
    """Empty, or what the user aimed at: `now`, `later`, `replan`, `retry:ID`, `goal:ID`."""
    images: tuple[ContentPart, ...] = ()
    """What he showed with it, in the order in which the text names them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommentMoved(Value):
    """A comment that waits takes its effect earlier or later than those that came beside it."""

    kind: ClassVar[str] = "comment_moved"
    comment_id: CommentId
    before: CommentId | None = None
    """The one that it stands before now; None is the end."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommentRouted(Value):
    """A comment took effect: where, and by which edits of the plan."""

    kind: ClassVar[str] = "comment_routed"
    comment_id: CommentId
    impact: Literal["future", "current", "past", "requirement_change"]
    decided_by: Literal["user", "classifier", "fallback"]
    edits: tuple[PlanEdit, ...] = ()
    note: str = ""
    """Why it is not what was said of it, where it is not."""
    goal_ids: tuple[GoalId, ...] = ()
    cancels: bool = False
    """The turn that ran was cancelled for it."""
    is_withdrawn: bool = False
    """The user took it back before it had an effect: it has none."""


__all__ = ["CommentMoved", "CommentReceived", "CommentRouted"]
