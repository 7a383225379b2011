"""The tool `memory_search`: what earlier sessions noted of this project, quoted.

Must not let a fact speak as anything but data.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tori_tui.domain.memory import Fact
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.memory.base import MemoryFailed, MemoryStore
from tori_tui.memory.quoted import quoted_facts
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "memory_search"

FACTS_LIMIT: Final = 20

TEXT_LIMIT_CHARS: Final = 8_000
"""Of all facts together: about 2,500 tokens."""

TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    query: str = ""


class MemorySearchTool:
    """Finds facts by words.

    Args:
        store: The project's memory.
    """

    name: Final = NAME
    effect: Final[Effect] = "read"

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say what is looked for."""
        query = parse(_Parameters, arguments, NAME).query
        return Preview(one_line(f"{NAME} {query}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return the newest facts that have the words."""
        query = parse(_Parameters, arguments, NAME).query.strip()
        try:
            facts = await self._store.search(query, FACTS_LIMIT + 1)
        except MemoryFailed as failure:
            said = f"The memory was not searched. {failure.message}\nThe work can go on without it."
            return ToolOutput(said, is_error=True)
        if not facts:
            fewer = (
                f" with all of the words {one_line(query, TITLE_LIMIT_CHARS)!r}. Try fewer" if query else ""
            )
            return ToolOutput(f"No fact is remembered{fewer}.")
        shown = _that_fit(facts[:FACTS_LIMIT])
        more = "\nThere are more: add a word to see others." if len(shown) < len(facts) else ""
        return ToolOutput(quoted_facts(shown) + more, details={"fact_ids": [fact.id for fact in shown]})


def _that_fit(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the first ones, as many as have room; the first always."""
    room, n_shown = TEXT_LIMIT_CHARS, 0
    for fact in facts:
        room -= len(fact.text)
        if room < 0 and n_shown:
            break
        n_shown += 1
    return facts[:n_shown]


__all__ = ["FACTS_LIMIT", "MemorySearchTool"]
