"""How long the focused goal has been worked on beyond what the state tells.

Must not count while nothing runs: what the user took to answer is not the goal's time.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState


class GoalClock:
    """Counts on from where the state's own figures end; each turn and each result brings those up to date.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._state = SessionState()
        self._since_s: float | None = None
        self.path: frozenset[GoalId] = frozenset()
        """The focused goal and those above it, which take the time that runs."""

    def show(self, state: SessionState) -> None:
        """Take in the session as it stands."""
        before, self._state = self._state, state
        old, now = before.tree.current_id, state.tree.current_id
        self.path = frozenset(goal.id for goal in state.tree.path_to(now)) if now else frozenset()
        if state.status != "running":
            self._since_s = None
        elif self._since_s is None or old != now or before.goal_stats.get(old) != state.goal_stats.get(now):
            self._since_s = self._clock()

    @property
    def since_s(self) -> float | None:
        """When the count began; None at rest."""
        return self._since_s

    @property
    def running_s(self) -> float | None:
        """What has been counted; None at rest."""
        return None if self._since_s is None else max(0.0, self._clock() - self._since_s)

    def running_of(self, goal_id: GoalId | None) -> float:
        """Return what has been counted of a goal: 0 for one that is not being worked on."""
        return (self.running_s or 0.0) if goal_id in self.path else 0.0


__all__ = ["GoalClock"]
