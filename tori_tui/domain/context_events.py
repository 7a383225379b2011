"""What happens to the contexts of a session and to what they share: events like those of `events`.

Must not be used from here: `events` hands them on with all the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tori_tui.domain.ids import ContextId, GoalId
from tori_tui.domain.value import Value

Mode = Literal["plan", "ask", "edit", "auto"]
"""What runs without a question, from the least on."""

EffortChoice = Literal["", "default", "minimal", "low", "medium", "high", "max"]
"""How much the model is to think; `default` leaves it to the model, empty says nothing."""


FactAuthor = Literal["agent", "user"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ContextChanged(Value):
    """A context was opened, switched to, closed, or the user chose another model, mode or effort in it."""

    kind: ClassVar[str] = "context"
    context: ContextId
    action: Literal["opened", "switched", "configured", "closed"]
    agent: str = "build"
    model: str = ""
    """Of one that was opened or switched to: its agent's own; empty is the session's."""
    mode: Mode | Literal[""] = ""
    """Of one that was opened or switched to: what its agent is held to, whatever the user's mode."""
    goal_id: GoalId | None = None
    """Of a switch: the goal for which; None where the user chose the agent."""
    effort: EffortChoice = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MemoryChanged(Value):
    """Something was remembered or forgotten: a key of this session, or a fact of the project."""

    kind: ClassVar[str] = "memory"
    layer: Literal["session", "project"]
    action: Literal["set", "forgotten"]
    key: str
    """The session's key, or the fact's id."""
    text: str = ""
    """The value or the fact; of a forgotten one empty."""
    by: FactAuthor = "agent"


__all__ = ["ContextChanged", "EffortChoice", "FactAuthor", "MemoryChanged", "Mode"]
