"""The tool `explore`: several directions at once, each followed by a branch.

Must not know how a branch runs; it is handed `spawn`, which does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import ArgumentsInvalid, CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "explore"

TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    branches: Annotated[list[str], msgspec.Meta(description="one direction each")]
    background: Annotated[str | None, msgspec.Meta(description="all that they are told besides")] = None
    mode: Literal["research", "implement"] = "research"
    check: Annotated[str | None, msgspec.Meta(description="command that judges an implement branch")] = None


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an explore call asks for."""

    directions: tuple[str, ...]
    background: str | None = None
    mode: Literal["research", "implement"] = "research"
    check: str | None = None


Spawn = Callable[[Exploration, CallScope], Awaitable[ToolOutput]]
"""Runs the branches of one call to their ends; cancelled, it winds them down first."""


class ExploreTool:
    """Starts branches and returns what each came to."""

    name: Final = NAME
    effect: Final[Effect] = "none"

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say how many directions there are, and which."""
        asked = read_exploration(arguments)
        said = "; ".join(one_line(direction) for direction in asked.directions)
        return Preview(one_line(f"{NAME} {len(asked.directions)} × {asked.mode}: {said}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Run the branches; every direction gets exactly one result."""
        return await self._spawn(read_exploration(arguments), scope)


def read_exploration(arguments: JsonObject) -> Exploration:
    """Return what the arguments of an explore call ask for.

    Raises:
        ArgumentsInvalid: The arguments do not fit.
    """
    asked = parse(_Parameters, arguments, NAME)
    directions = tuple(direction.strip() for direction in asked.branches if direction.strip())
    if not directions:
        raise ArgumentsInvalid("explore: `branches` is empty.", "Give one text for each direction.")
    check = (asked.check or "").strip() or None
    if check is not None and asked.mode == "research":
        raise ArgumentsInvalid(
            "explore: `check` needs the mode implement: a research branch changes nothing.",
            "Leave it out, or use mode implement.",
        )
    return Exploration(directions, (asked.background or "").strip() or None, asked.mode, check)


__all__ = ["Exploration", "ExploreTool", "Spawn", "read_exploration"]
