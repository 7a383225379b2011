"""What the user said while a run was going on: each comment one block, with what came of it.

Must not decide where a comment goes; records tell.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Final

from tori_tui.domain.events import CommentReceived, CommentRouted
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.messages import Message
from tori_tui.render.wording import fate_in_words
from tori_tui.ui.transcript.block_list import BlockList
from tori_tui.ui.transcript.blocks import CommentBlock

WITH_MODEL: Final = "with the model"


class Comments:
    """Keys of the comments' blocks. One that the model has not heard of follows every reply."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._keys: dict[CommentId, int] = {}
        self._untold: dict[CommentId, None] = {}
        """In the order in which they came."""

    def received(self, event: CommentReceived, goal_id: GoalId | None) -> None:
        """Show a comment where it was typed."""
        self._keys[event.comment_id] = self._blocks.add(
            CommentBlock(event.comment_id, event.text, goal_id=goal_id)
        )
        self._untold[event.comment_id] = None

    def routed(self, event: CommentRouted, goal_id: GoalId | None) -> None:
        """Show where a comment went."""
        if event.is_withdrawn:
            self._untold.pop(event.comment_id, None)
        self._set_fate(event.comment_id, fate_in_words(event, goal_id), event.note)

    def said(self, message: Message) -> None:
        """Tell that a comment joined the context; it is shown once."""
        comment_id = message.comment_id or self._by_text(message.text)
        if comment_id not in self._keys:
            self._blocks.add(CommentBlock(None, message.text, WITH_MODEL, goal_id=message.goal_id))
            return
        self._untold.pop(comment_id, None)
        block = self._blocks.get(self._keys[comment_id])
        if isinstance(block, CommentBlock) and not block.fate:
            self._set_fate(comment_id, WITH_MODEL)

    @property
    def followers(self) -> Set[int]:
        """The blocks of those that the model has not heard of."""
        return {self._keys[comment_id] for comment_id in self._untold}

    def follow(self) -> None:
        """Let what a reply did not know of stand behind it, whenever it was typed."""
        for comment_id in self._untold:
            self._keys[comment_id] = self._blocks.move_to_end(self._keys[comment_id])

    def forget(self) -> None:
        """Begin anew."""
        self._keys.clear()
        self._untold.clear()

    def _by_text(self, text: str) -> CommentId | None:
        """Find the comment of a message that does not name it."""
        for comment_id in self._untold:
            block = self._blocks.get(self._keys[comment_id])
            if isinstance(block, CommentBlock) and block.text in text:
                return comment_id
        return None

    def _set_fate(self, comment_id: CommentId, fate: str, note: str = "") -> None:
        key = self._keys.get(comment_id)
        block = self._blocks.get(key)
        if isinstance(block, CommentBlock) and key is not None:
            self._blocks.put(key, replace(block, fate=fate, note=note))


__all__ = ["Comments"]
