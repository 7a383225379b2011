"""What happens to a branch of an `explore` call: planned, started, its turns, its end, its adoption.

Plain data in the past tense. Must not hold what the branch itself said or did; its own trace does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from tori_tui.domain.ids import BranchId, CallId, GoalId
from tori_tui.domain.usage import Usage
from tori_tui.domain.value import Value

BranchMode = Literal["research", "implement"]

BranchOutcome = Literal["finished", "failed", "limit", "interrupted", "empty"]

CheckColour = Literal["", "green", "red"]
"""What the check of a branch came to; empty where there is none or it was not run."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BranchChanged(Value):
    """One step in the life of a branch. Each action fills the fields that are its own."""

    kind: ClassVar[str] = "branch"
    branch_id: BranchId
    call_id: CallId
    """The `explore` call that it belongs to."""
    action: Literal["planned", "started", "turn", "ended", "adopted"]
    goal_id: GoalId | None = None
    """Of a planned one: the goal that it works for, which pays for it."""
    direction: str = ""
    """Of a planned one, like its mode."""
    mode: BranchMode = "research"
    trace: str = ""
    """Of a started one: its folder under `branches/`."""
    usage: Usage = field(default_factory=Usage)
    """Of a turn: of that turn alone, like its cost."""
    cost_usd: float | None = None
    outcome: BranchOutcome | Literal[""] = ""
    """Of one that ended, like all that follows."""
    reason: str = ""
    """Why it did not finish, or what was left open."""
    conclusion: str = ""
    check: CheckColour = ""
    base: str = ""
    """The saved tree with which its copy began."""
    patch: str = ""
    """A file in `outputs/` with what it changed; empty where that is nothing."""
    added: int = 0
    removed: int = 0
    changed_paths: tuple[str, ...] = ()
    duration_s: float = 0.0


__all__ = ["BranchChanged", "BranchMode", "BranchOutcome", "CheckColour"]
