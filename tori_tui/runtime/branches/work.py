"""What goes into a branch and what comes out, and who runs it: values that could cross a process or a wire.

Must not know how a branch is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tori_tui.context.system_prompt import SystemParts
from tori_tui.domain.branch_events import BranchMode, BranchOutcome, CheckColour
from tori_tui.domain.commands import DecideApproval
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import Mode, Record, TurnFinished
from tori_tui.domain.ids import BranchId
from tori_tui.domain.request import Effort, ToolSpec
from tori_tui.runtime.asking import ApprovalRequest
from tori_tui.runtime.limits import Limits


class BranchesImpossible(ToriError):
    """No branch of the call can be run; says why."""


@dataclass(frozen=True, slots=True)
class InheritedView:
    """What a branch takes over of its parent, so that its first request extends the parent's last one."""

    system: SystemParts
    plan: str | None
    """The plan as it stands at the end of the parent's system prompt; None where it stands elsewhere."""
    tools: tuple[ToolSpec, ...]
    records: tuple[Record, ...]
    """What the parent's view held before the `explore` message, as the branch's own first records."""
    cache_key: str


@dataclass(frozen=True, slots=True)
class BaseTree:
    """The saved work tree that copies begin with."""

    tree: str
    empty_folders: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Files that are in no copy: very large, or not readable."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class BranchWork:
    """One branch's order."""

    branch_id: BranchId
    trace: str
    """The name of its trace's folder."""
    n_branches: int
    direction: str
    mode: BranchMode
    model: str
    permission: Mode
    limits: Limits
    background: str | None = None
    inherited: InheritedView | None = None
    """Set where there is no background."""
    check: str | None = None
    base: BaseTree | None = None
    """Set where it implements."""
    effort: Effort = ""
    """As the parent's, whose cached prefix it goes on with."""


@dataclass(frozen=True, slots=True)
class BranchResult:
    """What became of a branch."""

    outcome: BranchOutcome
    reason: str = ""
    note: str = ""
    """What of its change is missing, and why."""
    conclusion: str = ""
    check: CheckColour = ""
    patch: bytes = b""
    added: int = 0
    removed: int = 0
    changed_paths: tuple[str, ...] = ()
    duration_s: float = 0.0


class BranchWatch(Protocol):
    """What a running branch tells and asks the one who started it."""

    async def turn_finished(self, turn: TurnFinished) -> None:
        """Take in one more turn of it."""
        ...

    async def approve(self, request: ApprovalRequest) -> DecideApproval:
        """Decide about a call of it; it waits, the others do not."""
        ...


class RunningBranch(Protocol):
    """A branch under way."""

    def stop(self, outcome: BranchOutcome, reason: str) -> None:
        """Let it wind down: its result then is that outcome, with what it had found."""
        ...

    async def result(self) -> BranchResult:
        """Wait for its end. Never raises but when cancelled, and the branch goes on then."""
        ...


class BranchExecutor(Protocol):
    """Where the branches of one call run."""

    async def open(self, base: BaseTree | None, n_branches: int) -> int:
        """Make ready and return how many may run at once.

        Raises:
            BranchesImpossible: None can.
        """
        ...

    def start(self, work: BranchWork, watch: BranchWatch) -> RunningBranch:
        """Begin a branch."""
        ...

    async def close(self) -> None:
        """Remove everything that was made for the branches."""
        ...


__all__ = [
    "BaseTree",
    "BranchExecutor",
    "BranchResult",
    "BranchWatch",
    "BranchWork",
    "BranchesImpossible",
    "InheritedView",
    "RunningBranch",
]
