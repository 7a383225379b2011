"""Brings comments into effect where they fall in the plan, each once and in order.

Must not classify; a verdict comes as a command, from the user's aim, or not at all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from tori_tui.context.digest import cancelled_digest
from tori_tui.domain.commands import MoveComment, RouteComment
from tori_tui.domain.events import CommentMoved, CommentReceived, CommentRouted, MessageAdded
from tori_tui.domain.ids import CommentId
from tori_tui.domain.messages import Content, Message, Origin, content_of
from tori_tui.domain.routing import INJECTION, Routing, Verdict, aimed_verdict, route
from tori_tui.domain.state import SessionState
from tori_tui.runtime import nudges
from tori_tui.runtime.recorder import Recorder


class Classifier(Protocol):
    """Finds where comments fall in the plan, beside the run."""

    def notice(self, comment: CommentReceived) -> None:
        """Have a comment classified; its verdict comes later, as a command."""
        ...


async def _nothing() -> None:
    """Leave the agent as it is, where there is one only."""


class Steering:
    """Keeps the verdicts of comments until the turn task reaches a safe point.

    Args:
        recorder: The session's.
        feedback: Where comments are classified.
        settle: Lets the agent work that the plan wants now.
        tell_shell: Gives the model what commands of the user's own printed.
    """

    def __init__(
        self,
        recorder: Recorder,
        feedback: Classifier,
        settle: Callable[[], Awaitable[None]] = _nothing,
        tell_shell: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        self.tell_shell = tell_shell
        self._recorder = recorder
        self._feedback = feedback
        self._settle = settle
        self._verdicts: dict[CommentId, Verdict] = {}

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        return self._recorder.state

    async def receive(self, comment: CommentReceived) -> bool:
        """Record a comment and find its verdict; True if the running turn is to be cancelled for it."""
        await self._recorder.record(comment)
        return self._find_verdict(comment)

    def take(self, verdict: RouteComment) -> bool:
        """Keep a verdict; True if the running turn is to be cancelled for it, as the plan stands now."""
        comment = self.state.comments.get(verdict.comment_id)
        if comment is None or verdict.comment_id in self._verdicts:
            return False
        self._verdicts[verdict.comment_id] = verdict.verdict
        return route(self.state.tree, comment.text, verdict.verdict).cancels

    def _waits(self, comment_id: CommentId) -> bool:
        return comment_id in self.state.comments and comment_id not in self.state.routed

    async def move(self, command: MoveComment) -> bool:
        """Let a comment take its effect before another; False if it has had it already."""
        if not self._waits(command.comment_id):
            return False
        if command.before is None or self._waits(command.before):
            await self._recorder.record(CommentMoved(command.comment_id, command.before))
        return True

    async def withdraw(self, comment_id: CommentId) -> bool:
        """Take a comment back; False if it has taken effect already."""
        if not self._waits(comment_id):
            return False
        self._verdicts.pop(comment_id, None)
        await self._recorder.record(CommentRouted(comment_id, "future", "user", is_withdrawn=True))
        return True

    def find_verdicts(self) -> None:
        """Ask again about comments that a kill left without one."""
        for comment in self.state.comments.values():
            if comment.comment_id not in self._verdicts and comment.comment_id not in self.state.routed:
                self._find_verdict(comment)

    async def take_effect(self, *, is_last_chance: bool = False) -> None:
        """Apply comments in the order in which they came, up to the first without a verdict.

        One that is about the work of now does not wait: those before it join the context without.

        Args:
            is_last_chance: The run would end: comments without a verdict join the context now.
        """
        await self.tell_shell()
        comments = tuple(self.state.comments.values())
        verdicts = [self._verdicts.get(comment.comment_id) for comment in comments]
        n_urgent = max((n for n, v in enumerate(verdicts, 1) if v and v.impact != "future"), default=0)
        for number, comment in enumerate(comments):
            if comment.comment_id not in self.state.comments:
                continue  # it was withdrawn meanwhile
            routed = self.state.routed.get(comment.comment_id)
            verdict = self._verdicts.pop(comment.comment_id, None)
            if routed is None and verdict is None and not is_last_chance and number >= n_urgent:
                return
            if routed is None:
                routing = route(self.state.tree, comment.text, verdict or INJECTION)
                routed = await self._routed(comment, routing)
            await self._say(comment, routed)

    def _find_verdict(self, comment: CommentReceived) -> bool:
        aimed = aimed_verdict(comment.aim, self.state.tree)
        if aimed is not None:
            return self.take(RouteComment(comment.comment_id, aimed))
        self._feedback.notice(comment)
        return False

    async def _routed(self, comment: CommentReceived, routing: Routing) -> CommentRouted:
        """Record where the comment takes effect; cancelled work leaves its digest first."""
        state = self.state
        if routing.cancels:
            digest = cancelled_digest(state, state.active_context, state.tree.current_id)
            if digest is not None:
                await self._recorder.record(digest)
        routed = CommentRouted(
            comment.comment_id,
            routing.impact,
            routing.decided_by,
            routing.edits,
            routing.note,
            routing.goal_ids,
            routing.cancels,
        )
        await self._recorder.record(routed)
        return routed

    async def _say(self, comment: CommentReceived, routed: CommentRouted) -> None:
        """Give the comment to the model, word for word, and behind it what it means for the plan."""
        # Its edits may have taken the goal from the agent that worked on it: it is for the one that goes on.
        await self._settle()
        instruction = nudges.routed(routed, self.state.tree)
        if instruction and not self._has_just_said(instruction):
            await self._recorder.record(MessageAdded(self._message(instruction, "runner")))
        content = content_of(comment.text, comment.images)
        said = self._message(content, "comment", comment.comment_id)
        await self._recorder.record(MessageAdded(said))

    def _has_just_said(self, text: str) -> bool:
        """Whether a kill came between an instruction and its comment."""
        last = next(iter(reversed(self.state.live_log)), None)
        return last is not None and (last.message.origin, last.message.text) == ("runner", text)

    def _message(self, content: Content, origin: Origin, comment_id: CommentId | None = None) -> Message:
        state = self.state
        return Message(
            state.active_context, state.tree.current_id, "user", content, origin=origin, comment_id=comment_id
        )


__all__ = ["Steering"]
