"""Asks a model, beside the run, where comments fall in the plan.

Must not hold up the run or change any state: it reads a snapshot and sends verdicts as commands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tori_tui.context.classify import CONTEXT, MOST_REMARKS, classify_request, read_verdicts
from tori_tui.domain.commands import RouteComment
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import CommentReceived, NoticeShown, TurnFinished
from tori_tui.domain.request import ModelProfile, ModelRequest
from tori_tui.domain.routing import INJECTION, Verdict
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import Provider, TextDelta, UsageReported
from tori_tui.runtime.pricing import cost_usd
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.turn import Models

TIMEOUT_S: Final = 8.0
"""From DESIGN §8: a later verdict is worth less than the comment in the context now."""


class Feedback:
    """One question in flight; comments that come meanwhile are asked about together.

    Args:
        model: Which model is asked; None is the session's own.
        is_on: False sends every comment straight into the context.
        route: Takes each verdict, as a command.
    """

    def __init__(
        self,
        recorder: Recorder,
        models: Models,
        *,
        model: str | None,
        is_on: Callable[[ModelProfile], bool],
        route: Callable[[RouteComment], None],
    ) -> None:
        self._recorder = recorder
        self._models = models
        self._model = model
        self._is_on = is_on
        self._route = route
        self._waiting: list[CommentReceived] = []
        self._has_some = asyncio.Event()

    def notice(self, comment: CommentReceived) -> None:
        """Have a comment classified; its verdict comes as a command, at the latest after the time-out."""
        self._waiting.append(comment)
        self._has_some.set()

    async def serve(self) -> None:
        """Ask about what comes, until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some.clear()
            while self._waiting:
                batch, self._waiting = self._waiting[:MOST_REMARKS], self._waiting[MOST_REMARKS:]
                for comment, verdict in zip(batch, await self._verdicts(batch), strict=True):
                    self._route(RouteComment(comment.comment_id, verdict))

    async def _verdicts(self, batch: list[CommentReceived]) -> tuple[Verdict, ...]:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._ask(batch)
        except TimeoutError:
            why = f"no answer within {TIMEOUT_S:g} s"
        except ToriError as error:
            why = error.message
        except Exception as error:
            # A comment must never be lost to a fault of the classifier.
            why = f"{type(error).__name__}: {error}"
        self._recorder.announce(NoticeShown(f"The comment was not classified ({why}); it joins the context."))
        return (INJECTION,) * len(batch)

    async def _ask(self, batch: list[CommentReceived]) -> tuple[Verdict, ...]:
        state = self._recorder.state
        profile, provider = await self._models.ready(self._model or state.model_in_force)
        if not self._is_on(profile) or not state.tree.goals:
            return (INJECTION,) * len(batch)
        text, usage = await _answer(provider, classify_request(state.tree, batch, profile))
        await self._recorder.record(
            TurnFinished(
                number=self._recorder.state.n_turns,
                context=CONTEXT,
                goal_id=None,  # no goal's own work: its budget of turns stays whole
                model=profile.name,
                stop_reason="end",
                usage=usage,
                cost_usd=cost_usd(usage, profile),
            )
        )
        return read_verdicts(text, len(batch))


async def _answer(provider: Provider, request: ModelRequest) -> tuple[str, Usage]:
    pieces: list[str] = []
    usage = Usage()
    async for event in provider.stream(request):
        if isinstance(event, TextDelta):
            pieces.append(event.text)
        elif isinstance(event, UsageReported):
            usage = event.usage
    return "".join(pieces), usage


__all__ = ["TIMEOUT_S", "Feedback"]
