"""What the user said while a run was going on: each comment one block, with what came of it.

Must not decide where a comment goes; records tell.
"""

from __future__ import annotations

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
    """Keys of the comments' blocks."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._keys: dict[CommentId, int] = {}
        self._unsaid: dict[str, int] = {}
        """Comments that were received and did not yet come back as messages, by text."""

    def received(self, event: CommentReceived, goal_id: GoalId | None) -> None:
        """Show a comment where it was typed."""
        key = self._blocks.add(CommentBlock(event.comment_id, event.text, goal_id=goal_id))
        self._keys[event.comment_id] = key
        self._unsaid[event.text] = key

    def routed(self, event: CommentRouted, goal_id: GoalId | None) -> None:
        """Show where a comment went."""
        key = self._keys.get(event.comment_id)
        block = self._blocks.get(key)
        if isinstance(block, CommentBlock) and key is not None:
            self._blocks.put(key, replace(block, fate=fate_in_words(event, goal_id)))

    def said(self, message: Message) -> None:
        """Tell that a comment joined the context; it is shown once, where it was typed."""
        for text, key in tuple(self._unsaid.items()):
            if text in message.text:
                del self._unsaid[text]
                block = self._blocks.get(key)
                if isinstance(block, CommentBlock) and not block.fate:
                    self._blocks.put(key, replace(block, fate=WITH_MODEL))
                return
        self._blocks.add(CommentBlock(None, message.text, WITH_MODEL, message.goal_id))

    def forget(self) -> None:
        """Begin anew."""
        self._keys.clear()
        self._unsaid.clear()


__all__ = ["Comments"]
