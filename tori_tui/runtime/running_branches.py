"""The branches that run or wait to, so that the user can stop one.

Must not run anything.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.domain.ids import BranchId


class RunningBranches:
    """Finds a branch of the explore call under way by its number."""

    def __init__(self) -> None:
        self._stops: dict[BranchId, Callable[[str], None]] = {}

    @property
    def ids(self) -> tuple[BranchId, ...]:
        """Those that can be stopped."""
        return tuple(self._stops)

    def add(self, branch_id: BranchId, stop: Callable[[str], None]) -> None:
        """Let a branch be stopped from now on."""
        self._stops[branch_id] = stop

    def remove(self, branch_id: BranchId) -> None:
        """Forget one that ended."""
        self._stops.pop(branch_id, None)

    def stop(self, branch_id: BranchId, reason: str) -> bool:
        """Stop a branch; False where none of that number is under way."""
        stop = self._stops.get(branch_id)
        if stop is not None:
            stop(reason)
        return stop is not None


__all__ = ["RunningBranches"]
