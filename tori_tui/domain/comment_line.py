"""The line of comments that wait, in the order in which they take effect.

Pure. Must not know what a comment does.
"""

from __future__ import annotations

from collections.abc import Mapping

from tori_tui.domain.comment_events import CommentMoved, CommentReceived
from tori_tui.domain.ids import CommentId


def moved(
    comments: Mapping[CommentId, CommentReceived], event: CommentMoved
) -> dict[CommentId, CommentReceived]:
    """Return the line with one comment in another place; one that is not there any more moves nothing."""
    line = [comment for comment_id, comment in comments.items() if comment_id != event.comment_id]
    if event.comment_id not in comments or event.before == event.comment_id:
        return dict(comments)
    ids = [comment.comment_id for comment in line]
    place = ids.index(event.before) if event.before in ids else len(ids)
    line.insert(place, comments[event.comment_id])
    return {comment.comment_id: comment for comment in line}


__all__ = ["moved"]
