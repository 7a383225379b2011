"""Builds each request of a session and remembers what the next one depends on.

Must not hold state that a resumed session would miss: a lost `Prefix` only costs a cache miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from tori_tui.context.build import (
    BuiltRequest,
    PlacementSetting,
    Prefix,
    build_request,
)
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.ids import TraceId
from tori_tui.domain.request import ModelProfile, ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import LateRefusals
from tori_tui.runtime.clock import Clock
from tori_tui.trace.outputs import Outputs

CACHE_LIFE_S: Final = 300
"""After this long without a request the provider's prompt cache is taken to be cold (DESIGN §7)."""


class RequestBuilder:
    """The builder of one session."""

    def __init__(
        self,
        *,
        trace_id: TraceId,
        system: SystemParts,
        tools: Sequence[ToolSpec],
        placement: PlacementSetting,
        outputs: Outputs,
        late_refusals: LateRefusals,
        meter: TokenMeter,
        clock: Clock,
    ) -> None:
        self._trace_id = trace_id
        self._system = system
        self._tools = tuple(tools)
        self._placement = placement
        self._outputs = outputs
        self._late_refusals = late_refusals
        self._meter = meter
        self._clock = clock
        self._before: Prefix | None = None
        self._kept: set[str] = set()
        self._asked_at: datetime | None = None

    def build(self, state: SessionState, profile: ModelProfile) -> BuiltRequest:
        """Return the next request of the active context; its texts are kept in `outputs/`."""
        now = self._clock.now()
        self._meter.observe(state.last_turns.get(state.active_context))
        placement = self._placement
        if placement == "auto" and self._late_refusals.has(profile.name):
            placement = "leading"
        built = build_request(
            state,
            context=state.active_context,
            profile=profile,
            system=self._system,
            tools=self._tools,
            placement=placement,
            before=self._before,
            is_cold=self._asked_at is not None and (now - self._asked_at).total_seconds() > CACHE_LIFE_S,
            count=self._meter.count_message,
        )
        self._before = built.prefix
        self._asked_at = now
        for digest, text in built.texts.items():
            if digest not in self._kept:
                self._outputs.keep_text(text)
                self._kept.add(digest)
        key = f"{self._trace_id}/{state.active_context}"
        sections = self._meter.corrected_sections(built.sections, profile.name, state.n_turns + 1)
        return replace(built, request=replace(built.request, cache_key=key), sections=sections)

    def refuse_late(self, profile: ModelProfile) -> bool:
        """Take in that the model wants no late system message; False if that was known already."""
        if self._placement != "auto" or self._late_refusals.has(profile.name):
            return False
        self._late_refusals.add(profile.name)
        return True


__all__ = ["CACHE_LIFE_S", "RequestBuilder"]
