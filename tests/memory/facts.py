from __future__ import annotations

from datetime import UTC, datetime

from tori_tui.domain.ids import GoalId, TraceId
from tori_tui.domain.memory import NewFact

NOW = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def fact(text: str) -> NewFact:
    return NewFact(text, NOW, "agent", TraceId("t1"), GoalId("2'.1"), "Design the interface")
