"""The requests of one session: what stays the same between them, and what one tells the next.

Must not hold anything that a restart could not do without: the state alone gives valid requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from tori_tui.context.build import BuiltRequest, PlacementSetting, Prefix, build_request
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import Section
from tori_tui.domain.request import Effort, ModelProfile, ToolSpec
from tori_tui.domain.state import SessionState

CACHE_LIFETIME: Final = timedelta(seconds=300)
"""How long providers keep a prompt cached after its last use."""


class SessionRequests:
    """Builds the requests of a session, one after the other.

    Args:
        system: The fixed parts of the system prompt.
        tools: What the model may call.
        clock: Tells the time in UTC; an idle session's cache is cold.
        placement: Where the plan stands.
        meter: Counts and corrects tokens; shared with the screen.
        cache_key: The same for all requests of the session, for providers that route by it.
        effort: How much the model is to think.
    """

    def __init__(
        self,
        system: SystemParts,
        tools: Sequence[ToolSpec],
        *,
        clock: Callable[[], datetime],
        placement: PlacementSetting = "auto",
        meter: TokenMeter | None = None,
        cache_key: str = "",
        effort: Effort = "",
    ) -> None:
        self._system = system
        self._tools = tuple(tools)
        self._clock = clock
        self._placement = placement
        self._meter = meter or TokenMeter()
        self._cache_key = cache_key
        self._effort = effort
        self._before: Prefix | None = None
        self._estimates: dict[int, int] = {}
        """Estimates, not corrected, of the requests whose answer has not been looked at, by turn."""

    def build(self, state: SessionState, profile: ModelProfile) -> BuiltRequest:
        """Return the next request of the active context; its sections add up to the corrected size."""
        self._learn(state)
        built = build_request(
            state,
            context=state.active_context,
            profile=profile,
            system=self._system,
            tools=self._tools,
            placement=self._placement,
            before=self._before,
            is_cold=self._is_cold(state),
            count=self._meter.count_message,
        )
        self._before = built.prefix
        self._estimates[state.n_turns + 1] = sum(section.tokens for section in built.sections)
        return replace(
            built,
            request=replace(built.request, cache_key=self._cache_key, effort=self._effort),
            sections=tuple(self._corrected(section, profile.name) for section in built.sections),
        )

    def _corrected(self, section: Section, model: str) -> Section:
        return replace(section, tokens=self._meter.corrected(section.tokens, model))

    def _is_cold(self, state: SessionState) -> bool:
        return state.updated_at is not None and self._clock() - state.updated_at > CACHE_LIFETIME

    def _learn(self, state: SessionState) -> None:
        turn = state.last_turns.get(state.active_context)
        estimate = self._estimates.pop(turn.number, 0) if turn else 0
        if turn is not None and estimate:
            self._meter.learn(turn.model, estimate, turn.usage.input_tokens)


__all__ = ["CACHE_LIFETIME", "SessionRequests"]
