"""The tool `session_memory_set`: what every agent of the session is told from the next switch on.

Must not change the memory itself; it says what is to be remembered, and the executor writes it down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import msgspec

from tori_tui.domain.events import MemoryChanged
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.session_memory import stored_key, why_not_kept
from tori_tui.permission.confidential import secret_in
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "session_memory_set"
TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    key: str
    value: Annotated[str, msgspec.Meta(description="empty: forget the key")] = ""


class SessionMemorySetTool:
    """Sets or removes one entry of the session's memory.

    Args:
        redact: Takes keys out of a text; a text that it would change is refused.
    """

    name: Final = NAME
    effect: Final[Effect] = "none"

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the entry."""
        asked = parse(_Parameters, arguments, NAME)
        return Preview(one_line(f"{NAME} {asked.key}: {self._redact(asked.value)}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Say what is to be remembered or forgotten, or why it is not."""
        asked = parse(_Parameters, arguments, NAME)
        key, text, memory = stored_key(asked.key, scope.state.agent), asked.value.strip(), scope.state.memory
        if not text:
            if key not in memory:
                return ToolOutput(f"Nothing is remembered as {asked.key!r}.", is_error=True)
            return ToolOutput("Forgotten.", memory=(MemoryChanged("session", "forgotten", key),))
        if why := why_not_kept(memory, key, text):
            return ToolOutput(f"Not remembered. {why}", is_error=True)
        if secret := secret_in(f"{key} {text}", self._redact):
            said = f"Not remembered: it seems to hold {secret}. Say where it is kept, without its value."
            return ToolOutput(said, is_error=True)
        return ToolOutput("Remembered.", memory=(MemoryChanged("session", "set", key, text),))


__all__ = ["SessionMemorySetTool"]
