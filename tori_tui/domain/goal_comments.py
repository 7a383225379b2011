"""Which of the user's comments were about which goal, and what became of them.

Pure. Must not decide where a comment falls; `routing` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from tori_tui.domain.events import CommentReceived, CommentRouted
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.value import Value

AIMS = ("goal", "retry")
"""The aims of a comment that name a goal behind a colon."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalComment(Value):
    """A comment about a goal."""

    comment_id: CommentId
    text: str
    at: datetime
    impact: str = ""
    """How it took effect: an impact of `routing`; empty while it waits."""


GoalComments = Mapping[GoalId, tuple[GoalComment, ...]]

_Comments = dict[GoalId, tuple[GoalComment, ...]]


def with_comment(comments: GoalComments, event: CommentReceived, at: datetime) -> _Comments:
    """Return the comments with one more, if it says itself about which goal it is."""
    word, colon, name = event.aim.partition(":")
    if not colon or word not in AIMS:
        return dict(comments)
    goal_id = GoalId(name.strip())
    comment = GoalComment(event.comment_id, event.text, at)
    return {**comments, goal_id: (*comments.get(goal_id, ()), comment)}


def with_routing(
    comments: GoalComments,
    event: CommentRouted,
    received: CommentReceived | None,
    at: datetime,
    in_work: GoalId | None,
) -> _Comments:
    """Return the comments once one took effect, or was taken back.

    One that names no goal and joins the work is about the goal in work.
    """
    kept = {
        goal_id: tuple(
            replace(comment, impact=event.impact) if comment.comment_id == event.comment_id else comment
            for comment in of_goal
            if not (event.is_withdrawn and comment.comment_id == event.comment_id)
        )
        for goal_id, of_goal in comments.items()
    }
    if event.is_withdrawn or received is None:
        return kept
    comment = GoalComment(event.comment_id, received.text, at, event.impact)
    joined = (in_work,) if event.impact == "current" and in_work is not None else ()
    for goal_id in event.goal_ids or joined:
        of_goal = kept.get(goal_id, ())
        if all(known.comment_id != event.comment_id for known in of_goal):
            kept[goal_id] = (*of_goal, comment)
    return kept


__all__ = ["GoalComment", "GoalComments", "with_comment", "with_routing"]
