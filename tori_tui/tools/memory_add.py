"""The tool `memory_add`: one fact more in the project's memory.

Must not keep a secret, nor anything that the user was not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec

from tori_tui.domain.events import MemoryChanged
from tori_tui.domain.ids import TraceId
from tori_tui.domain.memory import NewFact
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.memory.base import MemoryFailed, MemoryStore
from tori_tui.permission.confidential import secret_in
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "memory_add"

FACT_LIMIT_CHARS: Final = 1_000
"""A decision with its reason takes 200 to 400; longer texts belong in files."""

GOAL_LIMIT_CHARS: Final = 100
TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    fact: str


class MemoryAddTool:
    """Adds facts, each with session and goal.

    Args:
        store: The project's memory.
        trace_id: The session that learns.
        now: The time, UTC.
        redact: Takes keys out of a text; a text that it would change is refused.
    """

    name: Final = NAME
    effect: Final[Effect] = "remember"

    def __init__(
        self, store: MemoryStore, trace_id: TraceId, now: Callable[[], datetime], redact: Callable[[str], str]
    ) -> None:
        self._store = store
        self._trace_id = trace_id
        self._now = now
        self._redact = redact

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the whole fact."""
        text = self._redact(parse(_Parameters, arguments, NAME).fact.strip())
        return Preview(one_line(f"{NAME} {text}", TITLE_LIMIT_CHARS), detail=text)

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Remember the fact, unless it is none."""
        text = parse(_Parameters, arguments, NAME).fact.strip()
        if refused := self._why_not(text):
            return ToolOutput(refused, is_error=True)
        try:
            remembered = await self._store.add(self._new_fact(text, scope.state))
        except MemoryFailed as failure:
            said = f"Not remembered. {failure.message}\nThe work can go on without it."
            return ToolOutput(said, is_error=True)
        fact = remembered.fact
        details: JsonObject = {"fact_id": fact.id, "fact": fact.text}
        if not remembered.is_new:
            return ToolOutput(f"Known already, as fact {fact.id}.", details=details)
        learned = MemoryChanged("project", "set", fact.id, fact.text)
        return ToolOutput(f"Remembered as fact {fact.id}.", details=details, memory=(learned,))

    def _why_not(self, text: str) -> str:
        if not text:
            return "There is no fact."
        if len(text) > FACT_LIMIT_CHARS:
            return f"The fact has {len(text):,} characters; at most {FACT_LIMIT_CHARS:,}. Say the essence."
        if secret := secret_in(text, self._redact):
            return (
                f"Not remembered: the text seems to hold {secret}. Say where it is kept, without its value."
            )
        return ""

    def _new_fact(self, text: str, state: SessionState) -> NewFact:
        goal = state.tree.find(state.tree.current_id) if state.tree.current_id else None
        return NewFact(
            text,
            self._now(),
            trace_id=self._trace_id,
            goal_id=goal.id if goal else None,
            goal=self._redact(one_line(goal.description, GOAL_LIMIT_CHARS)) if goal else "",
        )


__all__ = ["FACT_LIMIT_CHARS", "MemoryAddTool"]
