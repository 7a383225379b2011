"""Whether a rewrite of the view may be due: the quick look before each request.

Must not look at messages; the engine does, where this says that it must.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tori_tui.context.marks import Marks
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState

AT_ONCE: Final[frozenset[str]] = frozenset({"now"})
"""Profiles that fold a completed goal when it ends, not only an abandoned one."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a context is, against what it may be."""

    profile: str
    marks: Marks
    limit_tokens: int
    """What the window leaves for a request."""
    fixed_tokens: int
    """System prompt, tools and plan."""
    is_cold: bool = False
    """The provider's cache is cold, so that a rewrite costs nothing."""
    total_tokens: int | None = None
    """Of the whole request, as the screen shows it; None: it is added up."""
    correction: float = 1.0
    """By what the provider's figures differ from the estimates that messages are counted with."""

    @property
    def estimated(self) -> Marks:
        """The marks in the estimates' own measure."""
        return self.marks.scaled(1 / self.correction)

    @property
    def estimated_limit(self) -> int:
        """The limit in the estimates' own measure."""
        return int(self.limit_tokens / self.correction)


def may_rewrite(state: SessionState, total: int, sizes: Sizes) -> bool:
    """Whether anything at all may be due, before the view is looked at."""
    if batch_reason(state, total, sizes) or total > sizes.limit_tokens:
        return True
    return state.goal_ended_at_turn == state.n_turns and any(ended_now(state, sizes.profile))


def batch_reason(state: SessionState, total: int, sizes: Sizes) -> str:
    """Return why a batch is due; empty if none is."""
    marks = sizes.marks
    if total > marks.hard:
        return f"over {marks.hard // 1000}k tokens"
    if sizes.is_cold and total > marks.cold:
        return "cache cold"
    if state.root_ended_at_turn == state.n_turns and total > marks.root:
        return "a root goal ended"
    if state.goal_ended_at_turn == state.n_turns and total > marks.sub:
        return "a goal ended"
    return ""


def ended_now(state: SessionState, profile: str) -> Iterator[GoalId]:
    """Yield the ended goals that leave the view at their end: abandoned ones, in `now` all."""
    for goal_id in state.ended_goals:
        goal = state.tree.find(goal_id)
        if goal and not goal.pinned and (profile in AT_ONCE or goal.status == "abandoned"):
            yield goal.id


__all__ = ["Sizes", "batch_reason", "ended_now", "may_rewrite"]
