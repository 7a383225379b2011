"""What a session cost: in all, from the cache, and by goal.

Must not compute a price; costs come with the turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tori_tui.domain.inspection import SentTotals
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_cost, shown_tokens
from tori_tui.render.request_sections import totals_lines
from tori_tui.render.safe_text import one_line

GOALS_SHOWN: Final = 8


def spending_lines(totals: SentTotals, state: SessionState) -> Iterator[str]:
    """Yield the lines, then the dearest goals."""
    yield from (line.plain for line in totals_lines(totals))
    spent = [(goal, stats) for goal, stats in state.goal_stats.items() if stats.turns]
    spent.sort(key=lambda row: (-row[1].cost_usd, -row[1].usage.total_tokens))
    for goal_id, stats in spent[:GOALS_SHOWN]:
        goal = state.tree.find(goal_id) if goal_id else None
        name = f"{goal_id} {one_line(goal.description, 60)}" if goal else "without a goal"
        cost = shown_cost(stats.cost_usd, is_partial=False)
        parts = (counted(stats.turns, "turn"), f"{shown_tokens(stats.usage.total_tokens)} tokens", cost)
        yield f"{name}: {', '.join(part for part in parts if part)}"
    if len(spent) > GOALS_SHOWN:
        yield f"and {counted(len(spent) - GOALS_SHOWN, 'more goal')}"


__all__ = ["spending_lines"]
