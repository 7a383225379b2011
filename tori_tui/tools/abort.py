"""The tool `abort`: the model ends the run as failed.

Must not end anything itself; the runner does, from the reason.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "abort"
TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    reason: str


class AbortTool:
    """Ends the run."""

    name: Final = NAME
    effect: Final[Effect] = "none"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the reason."""
        asked = parse(_Parameters, arguments, NAME)
        return Preview(one_line(f"{NAME} {asked.reason}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return the reason; an empty one is refused, because the user must learn it."""
        reason = parse(_Parameters, arguments, NAME).reason.strip()
        if not reason:
            return ToolOutput("The reason is empty. Say why the run cannot go on.", is_error=True)
        return ToolOutput(f"The run ends: {reason}", abort_reason=reason)


__all__ = ["AbortTool"]
