"""Questions to the user and their answers: approvals, the model's questions, raised limits.

Must not decide whether a question is needed; `gate` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tori_tui.domain.commands import AnswerQuestion, DecideApproval
from tori_tui.domain.events import ApprovalChanged, QuestionAsked, RunStatusChanged
from tori_tui.domain.ids import ApprovalId, CallId, QuestionId
from tori_tui.runtime.recorder import Recorder

NOBODY = "nobody is there to approve it"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What the user is asked to allow."""

    call_id: CallId
    tool: str
    title: str
    detail: str
    reason: str
    """Why it must be asked."""
    rules: tuple[str, ...] = ()
    """What an answer for longer than once allows from then on."""


Decider = Callable[[ApprovalRequest], Awaitable[DecideApproval]]
"""Answers approvals elsewhere: those of a branch, in the front end of the one who explores."""


class Asking:
    """Keeps the open questions of a session; the run waits while there is one."""

    def __init__(
        self,
        recorder: Recorder,
        new_id: Callable[[], str],
        *,
        has_user: bool,
        monotonic: Callable[[], float],
        decider: Decider | None = None,
    ) -> None:
        self._decider = decider
        self._monotonic = monotonic
        self._ended_waits_s = 0.0
        self._waits_since_s: float | None = None
        self.has_user = has_user
        """Whether somebody can answer."""
        self._recorder = recorder
        self._new_id = new_id
        self._approvals: dict[ApprovalId, asyncio.Future[DecideApproval]] = {}
        self._questions: dict[QuestionId, asyncio.Future[str]] = {}
        self._asked: dict[QuestionId, QuestionAsked] = {}

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        """The model's questions that wait, oldest first; no record holds them."""
        return tuple(self._asked.values())

    @property
    def waited_s(self) -> float:
        """How long the session has waited for answers in all: time that nobody worked."""
        since_s = self._waits_since_s
        return self._ended_waits_s + (0.0 if since_s is None else self._monotonic() - since_s)

    async def approval(self, request: ApprovalRequest) -> ApprovalChanged:
        """Ask for permission and return the recorded answer; without a user it is denied at once."""
        approval_id = ApprovalId(self._new_id())
        asked = ApprovalChanged(
            approval_id,
            request.call_id,
            request.tool,
            request.title,
            "asked",
            detail=request.detail,
            reason=request.reason,
            rules=request.rules,
        )
        if self._decider is not None:
            return await self._decided_elsewhere(asked, self._decider(request))
        if not self.has_user:
            return await self._decided(asked, DecideApproval(approval_id, allow=False, reason=NOBODY))
        future = asyncio.get_running_loop().create_future()
        self._approvals[approval_id] = future
        await self._recorder.record(asked)
        try:
            await self._wait_begins(f"approval of {request.title}")
            decision: DecideApproval = await future
        finally:
            del self._approvals[approval_id]
            await self._wait_ends()
        return await self._decided(asked, decision)

    async def _decided_elsewhere(
        self, asked: ApprovalChanged, deciding: Awaitable[DecideApproval]
    ) -> ApprovalChanged:
        await self._recorder.record(asked)
        await self._recorder.record(RunStatusChanged("waiting", reason=f"approval of {asked.title}"[:200]))
        self._waits_since_s = self._monotonic()
        try:
            decision = await deciding
        finally:
            self._end_wait()
            await self._recorder.record(RunStatusChanged("running"))
        return await self._decided(asked, decision)

    async def question(self, text: str, options: Sequence[str] = ()) -> str | None:
        """Ask the user something; None where nobody is there."""
        if not self.has_user:
            return None
        question_id = QuestionId(self._new_id())
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[question_id] = future
        try:
            await self._wait_begins(text)
            asked = self._asked[question_id] = QuestionAsked(question_id, text, tuple(options))
            self._recorder.announce(asked)
            return await future
        finally:
            del self._questions[question_id]
            self._asked.pop(question_id, None)
            await self._wait_ends()

    def decide(self, decision: DecideApproval) -> bool:
        """Hand an answer to the approval that waits for it; False if none does."""
        future = self._approvals.get(decision.approval_id)
        if future is None or future.done():
            return False
        future.set_result(decision)
        return True

    def answer(self, answer: AnswerQuestion) -> bool:
        """Hand an answer to the question that waits for it; False if none does."""
        future = self._questions.get(answer.question_id)
        if future is None or future.done():
            return False
        future.set_result(answer.text)
        return True

    async def _decided(self, asked: ApprovalChanged, decision: DecideApproval) -> ApprovalChanged:
        answered = ApprovalChanged(
            asked.approval_id,
            asked.call_id,
            asked.tool,
            asked.title,
            "allowed" if decision.allow else "denied",
            reason=decision.reason,
            scope=decision.scope,
            rules=() if decision.scope == "once" else asked.rules,
        )
        await self._recorder.record(answered)
        return answered

    async def _wait_begins(self, reason: str) -> None:
        if len(self._approvals) + len(self._questions) == 1:
            self._waits_since_s = self._monotonic()
            await self._recorder.record(RunStatusChanged("waiting", reason=reason[:200]))

    async def _wait_ends(self) -> None:
        if not self._approvals and not self._questions:
            self._end_wait()
            await self._recorder.record(RunStatusChanged("running"))

    def _end_wait(self) -> None:
        self._ended_waits_s, self._waits_since_s = self.waited_s, None


__all__ = ["NOBODY", "ApprovalRequest", "Asking", "Decider"]
