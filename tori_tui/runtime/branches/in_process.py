"""Runs branches as sessions of this process: each with its own trace and, where it edits, its own tree.

Must not decide which branches run; `exploring` does.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tori_tui.domain.branch_events import BranchOutcome
from tori_tui.domain.commands import ContinueRun, DecideApproval, InterruptRun
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import RunStatusChanged, TurnFinished
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import ApprovalRequest
from tori_tui.runtime.branches.conclusion import concluded
from tori_tui.runtime.branches.seed import first_records
from tori_tui.runtime.branches.work import (
    BaseTree,
    BranchesImpossible,
    BranchResult,
    BranchWatch,
    BranchWork,
)
from tori_tui.runtime.bus import Published, Resync, Subscription
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.session import Session
from tori_tui.tools.changes import uninterrupted
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.copies import BranchPatch, Copies, CopyFailed, TreeCopy

if TYPE_CHECKING:
    from tori_tui.runtime.branches.work import BranchExecutor

ENDED: Final = frozenset({"done", "failed", "incomplete", "interrupted", "limit"})

FREE_SHARE: Final = 0.5
"""Of the disk's free room, at most, for copies."""

MEASURE_EVERY_S: Final = 5.0
"""A copy's size is looked at no more often: in a large tree that takes a quarter of a second."""

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class BranchPlace:
    """Where a branch works and where its trace lies."""

    trace: Path
    root: Path
    cwd: Path
    is_copy: bool


OpenBranch = Callable[
    [BranchWork, BranchPlace, Callable[[ApprovalRequest], Awaitable[DecideApproval]]], Awaitable[Session]
]
"""Opens the session of a branch over the first records of its trace."""


class InProcessExecutor:
    """Runs the branches of one call.

    Args:
        open_branch: Opens a branch's session.
        parent: The trace of the one who explores.
        root: Its work tree.
        cwd: Where it works in it.
        copies: Makes copies of the tree; None where there can be none.
        disk_bytes: Most that all copies at once may take.
        clock: The session's.
    """

    def __init__(
        self,
        *,
        open_branch: OpenBranch,
        parent: Path,
        root: Path,
        cwd: Path,
        copies: Copies | None,
        disk_bytes: int,
        clock: Clock,
    ) -> None:
        self.open_branch = open_branch
        self.parent = parent
        self.root = root
        self.cwd = cwd
        self.copies = copies
        self.clock = clock
        self._disk_bytes = disk_bytes
        self.copy_limit_bytes = disk_bytes

    async def open(self, base: BaseTree | None, n_branches: int) -> int:
        """Make ready for copies; see `BranchExecutor.open`."""
        if base is None:
            return n_branches
        if self.copies is None:
            raise BranchesImpossible("Without a git program there are no copies.", "Use mode research.")
        try:
            await asyncio.to_thread(self.copies.open)
        except CopyFailed as error:
            raise BranchesImpossible(error.message, error.hint) from error
        free_bytes = shutil.disk_usage(self.copies.folder).free
        room_bytes = min(self._disk_bytes, int(FREE_SHARE * free_bytes))
        n_fitting = min(n_branches, room_bytes // max(1, base.size_bytes))
        if n_fitting == 0:
            raise BranchesImpossible(
                f"A copy of the work tree takes {base.size_bytes // MEGABYTE:,} MB, and copies may take "
                f"{room_bytes // MEGABYTE:,} MB.",
                "Raise disk_mb under [explore], or use mode research.",
            )
        self.copy_limit_bytes = room_bytes // n_fitting
        return n_fitting

    def start(self, work: BranchWork, watch: BranchWatch) -> Running:
        """Begin a branch; see `BranchExecutor.start`."""
        return Running(self, work, watch)

    async def close(self) -> None:
        """Remove the copies; see `BranchExecutor.close`."""
        if self.copies is not None:
            await uninterrupted(self.copies.close)


class Running:
    """One branch under way."""

    def __init__(self, executor: InProcessExecutor, work: BranchWork, watch: BranchWatch) -> None:
        self._executor = executor
        self._work = work
        self._watch = watch
        self._session: Session | None = None
        self._stopped: tuple[BranchOutcome, str] | None = None
        self._measured_s = executor.clock.monotonic()
        self._task = asyncio.create_task(self._run())

    def stop(self, outcome: BranchOutcome, reason: str) -> None:
        """Let it wind down."""
        if self._stopped is None:
            self._stopped = outcome, reason
            if self._session is not None:
                self._session.send(InterruptRun(reason))

    async def result(self) -> BranchResult:
        """Wait for its end."""
        return await asyncio.shield(self._task)

    async def _run(self) -> BranchResult:
        began_s = self._executor.clock.monotonic()
        try:
            result = await self._live()
        except ToriError as error:
            result = BranchResult("failed", str(error))
        except Exception as error:
            # A fault of ours in one branch must not take the others along.
            result = BranchResult("failed", f"tori failed: {type(error).__name__}: {error}")
        if self._stopped is not None:
            outcome, reason = self._stopped
            result = replace(result, outcome=outcome, reason=reason)
        return replace(result, duration_s=round(self._executor.clock.monotonic() - began_s, 3))

    async def _live(self) -> BranchResult:
        work, copies = self._work, self._executor.copies
        copy: TreeCopy | None = None
        try:
            if work.base is not None and copies is not None:
                base, make = work.base, copies.make
                copy = await asyncio.to_thread(make, work.trace, base.tree, base.empty_folders)
            place = self._place(copy)
            state = await self._talk(place, copy)
            result = concluded(state, has_check=work.check is not None)
            if copy is None:
                return result
            return _with_patch(result, await asyncio.to_thread(copy.patch))
        finally:
            if copy is not None:
                await uninterrupted(copy.remove)

    def _place(self, copy: TreeCopy | None) -> BranchPlace:
        executor = self._executor
        trace = executor.parent / "branches" / self._work.trace
        if copy is None:
            return BranchPlace(trace, executor.root, executor.cwd, is_copy=False)
        cwd = copy.root / executor.cwd.relative_to(executor.root)
        # It may hold nothing but ignored files, of which a copy has none.
        cwd.mkdir(parents=True, exist_ok=True)
        return BranchPlace(trace, copy.root, cwd, is_copy=True)

    async def _talk(self, place: BranchPlace, copy: TreeCopy | None) -> SessionState:
        """Let the branch's session run to its end and return its last state."""
        now, parent = self._executor.clock.now(), self._executor.parent.name
        with JsonlTraceStore.open(place.trace) as store:
            for record in first_records(self._work, parent, str(place.cwd), now):
                store.append(record)
        session = await self._executor.open_branch(self._work, place, self._watch.approve)
        subscription = session.subscribe()
        serving = asyncio.create_task(session.run())
        try:
            self._session = session
            session.send(ContinueRun())
            if self._stopped is not None:
                session.send(InterruptRun(self._stopped[1]))
            await self._until_ended(session, subscription, copy)
        finally:
            self._session = None
            # One step, so that the session serves before it is closed.
            await asyncio.sleep(0)
            await session.close()
            await serving
        return session.state

    async def _until_ended(self, session: Session, subscription: Subscription, copy: TreeCopy | None) -> None:
        async for item in subscription:
            if isinstance(item, Resync) and item.state.status in ENDED:
                return
            if not isinstance(item, Published):
                continue
            match item.record.event:
                case TurnFinished() as turn:
                    await self._watch.turn_finished(turn)
                    await self._measure(copy)
                case RunStatusChanged(status=status) if status in ENDED:
                    return

    async def _measure(self, copy: TreeCopy | None) -> None:
        """Stop a branch that fills the disk."""
        now_s = self._executor.clock.monotonic()
        if copy is None or now_s - self._measured_s < MEASURE_EVERY_S:
            return
        self._measured_s = now_s
        size_bytes = await asyncio.to_thread(copy.size_bytes)
        limit_bytes = self._executor.copy_limit_bytes
        if size_bytes > limit_bytes:
            text = f"its copy takes {size_bytes // MEGABYTE:,} of {limit_bytes // MEGABYTE:,} MB of disk"
            self.stop("limit", text)


def _with_patch(result: BranchResult, patch: BranchPatch) -> BranchResult:
    return replace(
        result,
        note=patch.note,
        patch=patch.data,
        added=patch.added,
        removed=patch.removed,
        changed_paths=patch.paths,
    )


if TYPE_CHECKING:

    def _conforms(executor: InProcessExecutor) -> BranchExecutor:
        return executor


__all__ = ["BranchPlace", "InProcessExecutor", "OpenBranch", "Running"]
