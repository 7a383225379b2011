"""What an agent writes down before its context is closed: one short request in that context.

Must not close anything, and must not hold it up for long: without an answer nothing is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from tori_tui.context.messages import request_messages
from tori_tui.domain.agents import Agent
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import NoticeShown, TurnFinished
from tori_tui.domain.ids import ContextId
from tori_tui.domain.messages import Message
from tori_tui.domain.request import ModelRequest, SystemBlock, ToolSpec
from tori_tui.providers.base import Provider, TextDelta, UsageReported
from tori_tui.runtime.pricing import cost_usd
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.turn import Models

TIMEOUT_S: Final = 60.0

QUESTION: Final = (
    "This conversation is about to be closed. Write down what is worth keeping for your next one and stands "
    "nowhere else: decisions with their reasons, traps, names. At most 150 words, no calls. Nothing worth "
    "keeping? Answer with the single word none."
)


class Farewell:
    """Asks the agents of one session."""

    def __init__(self, recorder: Recorder, models: Models, tools: Sequence[ToolSpec]) -> None:
        self._recorder = recorder
        self._models = models
        self._tools = tuple(tools)

    async def ask(self, context: ContextId, agent: Agent) -> str:
        """Return what the agent wants to keep; empty if it is nothing, or no answer came."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                text = (await self._answer(context, agent)).strip()
        except (TimeoutError, ToriError) as error:
            why = str(error) or f"no answer within {TIMEOUT_S:g} s"
            self._recorder.announce(NoticeShown(f"The agent {agent.name} wrote nothing down: {why}"))
            return ""
        return "" if text.strip(" .").lower() == "none" else text

    async def _answer(self, context: ContextId, agent: Agent) -> str:
        state = self._recorder.state
        opened = state.contexts.get(context)
        profile, provider = await self._models.ready((opened.model if opened else "") or state.model)
        mission = state.tree.current_mission
        said = request_messages(
            state.view(context).entries, context, mission.text if mission else "", profile.window_tokens
        )
        request = ModelRequest(
            context,
            profile,
            (SystemBlock("rules", agent.prompt),),
            (*said, Message(context, None, "user", QUESTION, origin="runner")),
            tuple(tool for tool in self._tools if agent.has_tool(tool.name)),
            effort="low",
        )
        return await self._stream(provider, request)

    async def _stream(self, provider: Provider, request: ModelRequest) -> str:
        pieces: list[str] = []
        state = self._recorder.state
        async for event in provider.stream(request):
            if isinstance(event, TextDelta):
                pieces.append(event.text)
            elif isinstance(event, UsageReported):
                finished = TurnFinished(
                    number=state.n_turns,
                    context=ContextId("farewell"),
                    goal_id=None,
                    model=request.profile.name,
                    stop_reason="end",
                    usage=event.usage,
                    cost_usd=cost_usd(event.usage, request.profile),
                )
                await self._recorder.record(finished)
        return "".join(pieces)


__all__ = ["QUESTION", "Farewell"]
