"""The reply that streams: thinking, answer and calls as they grow, until the message is whole.

Must not outlive its reply; what is durable replaces what streamed under the same keys.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from tori_tui.domain.events import CallStreamed
from tori_tui.domain.ids import GoalId
from tori_tui.domain.messages import Message
from tori_tui.render.wording import thinking_of
from tori_tui.ui.transcript.block_list import BlockList
from tori_tui.ui.transcript.blocks import AnswerBlock, CallBlock, ThinkingBlock


class Reply:
    """Keys of the blocks that belong to the reply under way."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._answer: int | None = None
        self._thinking: int | None = None
        self._calls: dict[str, int] = {}
        """Calls that the model is writing, by the stream's key."""

    def add_text(self, text: str, goal_id: GoalId | None) -> None:
        """More of the answer came."""
        live = self._blocks.get(self._answer)
        if isinstance(live, AnswerBlock) and self._answer is not None:
            self._blocks.put(self._answer, replace(live, text=live.text + text))
        else:
            self._end_thinking()
            self._answer = self._blocks.add(AnswerBlock(text, is_streaming=True, goal_id=goal_id))

    def add_thinking(self, text: str, goal_id: GoalId | None) -> None:
        """More of the thinking came."""
        live = self._blocks.get(self._thinking)
        if isinstance(live, ThinkingBlock) and self._thinking is not None:
            self._blocks.put(self._thinking, replace(live, text=live.text + text))
        else:
            self._thinking = self._blocks.add(ThinkingBlock(text, is_streaming=True, goal_id=goal_id))

    def add_call(self, event: CallStreamed, goal_id: GoalId | None) -> None:
        """More of a call came."""
        key = self._calls.get(event.key)
        live = self._blocks.get(key)
        if isinstance(live, CallBlock) and key is not None:
            raw = (live.arguments_raw or "") + event.arguments
            self._blocks.put(key, replace(live, name=event.name or live.name, arguments_raw=raw))
            return
        self._end_thinking()
        block = CallBlock(None, event.name, arguments_raw=event.arguments, state="writing", goal_id=goal_id)
        self._calls[event.key] = self._blocks.add(block)

    def become(self, message: Message, calls: Sequence[CallBlock], followers: Set[int]) -> list[int]:
        """Give what streamed the form of the whole message; return the keys of its calls.

        Args:
            message: The reply.
            calls: Its calls, in the order in which they are shown.
            followers: Blocks that stand behind it whenever they came; it stands behind all others.
        """
        own = {key for key in (self._thinking, self._answer, *self._calls.values()) if key is not None}
        if own and self._blocks.has_behind(min(own), own | followers):
            self.drop()
        writing = list(self._calls.values())
        self._become_thinking(message)
        self._become_answer(message, writing)
        for key in writing[len(calls) :]:
            self._blocks.drop(key)
        keys = [
            self._blocks.put_or_add(writing[index] if index < len(writing) else None, block)
            for index, block in enumerate(calls)
        ]
        self.forget()
        return keys

    def _become_thinking(self, message: Message) -> None:
        live = self._blocks.get(self._thinking)
        streamed = live.text if isinstance(live, ThinkingBlock) else ""
        text = thinking_of(message) or message.thinking or streamed
        if not text:
            return
        block = ThinkingBlock(text, goal_id=message.goal_id)
        if self._thinking is None and self._answer is not None:
            self._blocks.put(self._answer - 1, block)
        else:
            self._blocks.put_or_add(self._thinking, block)

    def _become_answer(self, message: Message, writing: Sequence[int]) -> None:
        if not message.text:
            self._blocks.drop(self._answer)
            return
        answer = AnswerBlock(message.text, interrupted=message.interrupted, goal_id=message.goal_id)
        first = min(writing, default=None)
        if first is not None and (self._answer is None or self._answer > first):
            # A call came before the words; what a record tells begins with the words.
            self._blocks.drop(self._answer)
            self._blocks.put(first - 1, answer)
        else:
            self._blocks.put_or_add(self._answer, answer)

    def drop(self) -> None:
        """Remove what streamed."""
        for key in (self._thinking, self._answer, *self._calls.values()):
            self._blocks.drop(key)
        self.forget()

    def forget(self) -> None:
        """Let the next reply begin."""
        self._answer = self._thinking = None
        self._calls.clear()

    def _end_thinking(self) -> None:
        live = self._blocks.get(self._thinking)
        if isinstance(live, ThinkingBlock) and live.is_streaming and self._thinking is not None:
            self._blocks.put(self._thinking, replace(live, is_streaming=False))


__all__ = ["Reply"]
