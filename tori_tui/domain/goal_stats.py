"""What a goal took: turns, calls, tokens, money, time, files.

Must not know how a goal's children are summed up; the state does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from tori_tui.domain.events import BranchChanged, TurnFinished
from tori_tui.domain.messages import Message
from tori_tui.domain.usage import Usage
from tori_tui.domain.value import Value, often_made


@often_made
class GoalStats(Value):
    """What one goal (or, under the key None, the missions' own segments) took, children not included."""

    turns: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    duration_s: float = 0.0
    """Model and tool time, not the user's."""
    changed_paths: tuple[str, ...] = ()
    has_unpriced_turns: bool = False
    """The price of some turn is not known: the cost is a least one."""

    def __add__(self, other: GoalStats) -> GoalStats:
        return GoalStats(
            self.turns + other.turns,
            self.calls + other.calls,
            self.usage + other.usage,
            self.cost_usd + other.cost_usd,
            self.duration_s + other.duration_s,
            _joined(self.changed_paths, other.changed_paths),
            self.has_unpriced_turns or other.has_unpriced_turns,
        )

    def with_turn(self, turn: TurnFinished) -> GoalStats:
        """Return the sum with one more model request."""
        return GoalStats(
            self.turns + 1,
            self.calls,
            self.usage + turn.usage,
            self.cost_usd + (turn.cost_usd or 0.0),
            self.duration_s + turn.duration_s,
            self.changed_paths,
            self.has_unpriced_turns or turn.cost_usd is None,
        )

    def with_branch_turn(self, turn: BranchChanged) -> GoalStats:
        """Return the sum with what one turn of a branch took; its time is that of the call that waits."""
        return replace(
            self,
            usage=self.usage + turn.usage,
            cost_usd=self.cost_usd + (turn.cost_usd or 0.0),
            has_unpriced_turns=self.has_unpriced_turns or turn.cost_usd is None,
        )

    def with_result(self, message: Message) -> GoalStats:
        """Return the sum with one more tool call, known by its result."""
        return GoalStats(
            self.turns,
            self.calls + 1,
            self.usage,
            self.cost_usd,
            self.duration_s + (message.duration_s or 0.0),
            _joined(self.changed_paths, _changed_paths(message.details))
            if message.details
            else self.changed_paths,
            self.has_unpriced_turns,
        )


def _joined(paths: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return paths + tuple(p for p in more if p not in paths) if more else paths


def _changed_paths(details: Mapping[str, object]) -> tuple[str, ...]:
    paths = details.get("changed_paths") if details else None
    return tuple(str(p) for p in paths) if isinstance(paths, (list, tuple)) else ()


__all__ = ["GoalStats"]
