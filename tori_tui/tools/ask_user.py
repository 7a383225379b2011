"""The tool `ask_user`: one question to the user.

Must not wait where nobody is there.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "ask_user"
NOBODY_IS_THERE: Final = "Nobody is there: decide yourself, and note the assumption in your answer."
TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    question: str
    options: list[str] = []


class AskUserTool:
    """Puts a question to the user and gives his answer back."""

    name: Final = NAME
    effect: Final[Effect] = "none"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the question."""
        asked = parse(_Parameters, arguments, NAME)
        return Preview(one_line(f"{NAME} {asked.question}", TITLE_LIMIT_CHARS), detail=asked.question)

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Ask, and wait for the answer."""
        asked = parse(_Parameters, arguments, NAME)
        if not asked.question.strip():
            return ToolOutput("The question is empty. Ask it in one sentence.", is_error=True)
        answer = await scope.ask_user(asked.question, asked.options)
        if answer is None:
            return ToolOutput(NOBODY_IS_THERE, details={"answered": False})
        said = answer.strip() or "(the user sent an empty answer)"
        return ToolOutput(f"The user's answer: {said}", details={"answered": True})


__all__ = ["AskUserTool"]
