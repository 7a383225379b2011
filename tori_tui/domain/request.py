"""A model request as tori sees it, before a provider's adapter writes it for the wire.

Must not know any provider; what a model takes stands in `ModelProfile`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tori_tui.domain.ids import ContextId
from tori_tui.domain.messages import JsonObject, Message
from tori_tui.domain.value import Value

Effort = Literal["", "minimal", "low", "medium", "high", "max"]
"""How much a model thinks before it answers; empty is its own default."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToolSpec(Value):
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of an object; keys in a stable order."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SystemBlock(Value):
    """One part of the system prompt."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelProfile(Value):
    """What one model takes and costs; made from the catalogue and the configuration."""

    name: str
    """As the user writes it: `openai-chat/NAME`."""
    provider: str
    model: str
    """The name on the wire."""
    family: str
    """Models that accept each other's signed thinking."""
    window_tokens: int
    output_limit_tokens: int
    is_known: bool = True
    """False where window and prices are guessed defaults."""
    late_system: bool = False
    """Takes a system message after the history."""
    native_tools: bool = True
    tool_role: bool = False
    """Without tools it still takes a call's result in the role `tool`."""
    vision: bool = False
    efforts: tuple[Effort, ...] = ()
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    cached_usd_per_mtok: float | None = None
    cache_write_usd_per_mtok: float | None = None
    is_local: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelRequest(Value):
    """Everything that one model call is given."""

    context: ContextId
    profile: ModelProfile
    system: tuple[SystemBlock, ...]
    """In order; joined by blank lines where a provider takes one text."""
    messages: tuple[Message, ...]
    """Never interrupted ones; after a message with calls come all its results and nothing between."""
    tools: tuple[ToolSpec, ...] = ()
    late_system: str | None = None
    """A system message after the history (a late plan); cache breakpoints stand before it."""
    cache_marks: tuple[int, ...] = field(default=())
    """Indices into `messages`: the prefix up to and with each is worth a cache breakpoint."""
    max_output_tokens: int | None = None
    effort: Effort = ""
    cache_key: str = ""
    """The same for all requests of a session's context, for providers that route by it."""


__all__ = ["Effort", "ModelProfile", "ModelRequest", "SystemBlock", "ToolSpec"]
