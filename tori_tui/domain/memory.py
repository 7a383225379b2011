"""What is remembered of a project beyond a session: facts, each with where it came from.

Must not know where facts are kept or how they are searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tori_tui.domain.context_events import FactAuthor
from tori_tui.domain.ids import FactId, GoalId, TraceId
from tori_tui.domain.value import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NewFact(Value):
    """A fact that is about to be remembered."""

    text: str
    created_at: datetime
    """UTC."""
    author: FactAuthor = "agent"
    trace_id: TraceId | None = None
    """The session that learned it."""
    goal_id: GoalId | None = None
    goal: str = ""
    """What that goal was, in words: its id says nothing outside its session."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fact(Value):
    """A fact that is remembered."""

    id: FactId
    """A number, given by the store; never given again."""
    text: str
    created_at: datetime
    author: FactAuthor = "agent"
    trace_id: TraceId | None = None
    goal_id: GoalId | None = None
    goal: str = ""


__all__ = ["Fact", "FactAuthor", "NewFact"]
