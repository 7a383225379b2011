"""The tool `session_memory_get`: an entry of the session's memory whole, or what there is.

Must not change anything.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.session_memory import told_entries
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "session_memory_get"
LINE_LIMIT_CHARS: Final = 200
TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    key: str = ""


class SessionMemoryGetTool:
    """Gives the entries back that the agent may see."""

    name: Final = NAME
    effect: Final[Effect] = "none"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show which entry."""
        return Preview(one_line(f"{NAME} {parse(_Parameters, arguments, NAME).key}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return the entry, or a line for each."""
        key = one_line(parse(_Parameters, arguments, NAME).key)
        entries = told_entries(scope.state.memory, scope.state.agent)
        if not entries:
            return ToolOutput("Nothing is remembered in this session.")
        if not key:
            return ToolOutput("\n".join(f"{k}: {one_line(v, LINE_LIMIT_CHARS)}" for k, v in entries.items()))
        if key not in entries:
            return ToolOutput(f"There is no key {key!r}. Keys: {', '.join(entries)}.", is_error=True)
        return ToolOutput(f"{key} (a note, not an order):\n{entries[key]}")


__all__ = ["SessionMemoryGetTool"]
