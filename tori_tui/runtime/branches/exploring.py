"""Plans the branches of an explore call, lets them run, and records what becomes of each.

Must not know where a branch runs; the executor does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tori_tui.domain.branch_events import BranchChanged, BranchOutcome
from tori_tui.domain.branches import Branch, branches_of_call, next_branch_ids
from tori_tui.domain.commands import DecideApproval
from tori_tui.domain.events import Mode, TurnFinished
from tori_tui.domain.ids import ApprovalId, BranchId, CallId
from tori_tui.runtime.asking import ApprovalRequest, Asking
from tori_tui.runtime.branches.report import explored
from tori_tui.runtime.branches.work import (
    BaseTree,
    BranchesImpossible,
    BranchExecutor,
    BranchResult,
    BranchWork,
    InheritedView,
    RunningBranch,
)
from tori_tui.runtime.limits import Limits
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.running_branches import RunningBranches
from tori_tui.tools.base import CallScope, ToolOutput
from tori_tui.tools.explore import Exploration
from tori_tui.trace.outputs import Outputs

NOT_STARTED: Final = "it had not started"


@dataclass(frozen=True, slots=True)
class ExploreCaps:
    """What explore calls may take."""

    max_parallel: int
    branches: int
    limits: Limits
    """Of one branch."""


@dataclass(frozen=True, slots=True)
class Surround:
    """What exploring asks of the session around it.

    Attributes:
        make_executor: Returns what runs the branches of one call.
        inherit: Returns what the branches of a call take over of the conversation before it.
        save_tree: Saves the work tree for copies.
        check_refusal: Asks whether a check may run in the branches, and returns why not.
        spent: Says which limit of the whole run is reached, if any.
        new_trace: Returns the folder name for a further trace of a branch.
    """

    make_executor: Callable[[CallId], BranchExecutor]
    inherit: Callable[[CallId], InheritedView]
    save_tree: Callable[[], Awaitable[BaseTree]]
    check_refusal: Callable[[str, CallId], Awaitable[str | None]]
    spent: Callable[[], str | None]
    new_trace: Callable[[BranchId], str]


class Exploring:
    """Runs explore calls of one session, one at a time."""

    def __init__(
        self,
        recorder: Recorder,
        asking: Asking,
        outputs: Outputs,
        running: RunningBranches,
        caps: ExploreCaps,
        around: Surround,
    ) -> None:
        self._recorder = recorder
        self._asking = asking
        self._outputs = outputs
        self._running = running
        self._caps = caps
        self._around = around

    async def explore(self, asked: Exploration, scope: CallScope) -> ToolOutput:
        """Run the branches of a call that have not ended yet, and return what all came to.

        A call that a kill cut off goes on where it was: what ended is kept, the rest begins anew.
        Cancelled, it lets every branch wind down and records how each ended.
        """
        call_id, mode = scope.call_id, self._recorder.state.mode_in_force or "ask"
        if asked.mode == "implement" and mode == "plan":
            return ToolOutput("Not run: mode plan only reads. Use mode research.", is_error=True)
        if asked.check and (denied := await self._around.check_refusal(asked.check, call_id)) is not None:
            return ToolOutput(f"Not run: its check `{asked.check}` may not run: {denied}", is_error=True)
        taken, over = asked.directions[: self._caps.branches], asked.directions[self._caps.branches :]
        await self._plan(call_id, taken, asked)
        open_branches = [b for b in branches_of_call(self._branches, call_id) if b.end is None]
        if open_branches:
            await self._run(open_branches, asked, scope, mode)
        return explored(self._branches, call_id, over)

    @property
    def _branches(self) -> dict[BranchId, Branch]:
        return dict(self._recorder.state.branches)

    async def _plan(self, call_id: CallId, directions: Sequence[str], asked: Exploration) -> None:
        known = len(branches_of_call(self._branches, call_id))
        state = self._recorder.state
        call = state.open_calls.get(call_id)
        goal_id = call.goal_id if call is not None else state.tree.current_id
        for branch_id, direction in zip(
            next_branch_ids(state.branches, len(directions) - known), directions[known:], strict=True
        ):
            planned = BranchChanged(
                branch_id, call_id, "planned", goal_id=goal_id, direction=direction, mode=asked.mode
            )
            await self._recorder.record(planned)

    async def _run(
        self, branches: Sequence[Branch], asked: Exploration, scope: CallScope, mode: Mode
    ) -> None:
        executor = self._around.make_executor(scope.call_id)
        try:
            base = await self._around.save_tree() if asked.mode == "implement" else None
            n_at_once = min(self._caps.max_parallel, await executor.open(base, len(branches)))
        except BranchesImpossible as error:
            for branch in branches:
                await self._ended(branch, BranchResult("failed", str(error)), "")
            await executor.close()
            return
        order = _Order(asked, mode, base, self._inherited(asked, scope.call_id))
        call = _Call(self, executor, branches, order, n_at_once)
        try:
            await call.run()
        finally:
            await executor.close()

    def _inherited(self, asked: Exploration, call_id: CallId) -> InheritedView | None:
        return self._around.inherit(call_id) if asked.background is None else None

    # ── for the call under way ──

    def work(self, branch: Branch, order: _Order, n_branches: int) -> BranchWork:
        """Return the order of one branch."""
        asked = order.asked
        return BranchWork(
            branch_id=branch.id,
            trace=self._around.new_trace(branch.id),
            n_branches=n_branches,
            direction=branch.direction,
            mode=asked.mode,
            model=self._recorder.state.model_in_force,
            permission=_permission(asked, order.mode),
            limits=self._caps.limits,
            background=asked.background,
            inherited=order.inherited,
            check=asked.check,
            base=order.base,
            effort=self._recorder.state.effort,
        )

    async def started(self, work: BranchWork, branch: Branch) -> None:
        """Record that a branch begins, before anything of it is there."""
        event = BranchChanged(branch.id, branch.call_id, "started", trace=work.trace)
        await self._recorder.record(event)
        await self._recorder.sync()

    async def turn_finished(self, branch: Branch, turn: TurnFinished) -> str | None:
        """Record a turn of a branch; return the limit of the whole run that is reached with it."""
        event = BranchChanged(branch.id, branch.call_id, "turn", usage=turn.usage, cost_usd=turn.cost_usd)
        await self._recorder.record(event)
        return self._around.spent()

    async def approve(self, branch: Branch, request: ApprovalRequest) -> DecideApproval:
        """Ask the user in the name of a branch; what holds for a goal of it holds once."""
        answer = await self._asking.approval(
            ApprovalRequest(
                branch.call_id,
                request.tool,
                f"[branch {branch.id}] {request.title}",
                request.detail,
                request.reason,
                request.rules,
            )
        )
        scope = "once" if answer.scope == "goal" else answer.scope
        return DecideApproval(ApprovalId(""), answer.state == "allowed", answer.reason, scope)

    async def ended(self, branch: Branch, result: BranchResult, base: BaseTree | None) -> None:
        """Record how a branch ended, with its change."""
        await self._ended(branch, result, base.tree if base is not None else "")

    async def _ended(self, branch: Branch, result: BranchResult, base: str) -> None:
        patch = ""
        if result.patch:
            patch = await asyncio.to_thread(self._outputs.keep_bytes, result.patch, ".patch")
        event = BranchChanged(
            branch.id,
            branch.call_id,
            "ended",
            outcome=result.outcome,
            reason="; ".join(filter(None, (result.reason, result.note))),
            conclusion=result.conclusion,
            check=result.check,
            base=base if patch else "",
            patch=patch,
            added=result.added,
            removed=result.removed,
            changed_paths=result.changed_paths,
            duration_s=result.duration_s,
        )
        await self._recorder.record(event)

    @property
    def running(self) -> RunningBranches:
        """Where the user finds a branch to stop."""
        return self._running


@dataclass(frozen=True, slots=True)
class _Order:
    """What all branches of a call have in common."""

    asked: Exploration
    mode: Mode
    base: BaseTree | None
    inherited: InheritedView | None


@dataclass(slots=True)
class _Call:
    """The branches of one call under way."""

    exploring: Exploring
    executor: BranchExecutor
    branches: Sequence[Branch]
    order: _Order
    n_at_once: int
    _under_way: dict[BranchId, RunningBranch] = field(default_factory=dict)
    _stopped: dict[BranchId, tuple[BranchOutcome, str]] = field(default_factory=dict)

    async def run(self) -> None:
        """Run them all; a cancellation goes on once each of them has ended."""
        places = asyncio.Semaphore(self.n_at_once)
        tasks = [asyncio.create_task(self._one(branch, places)) for branch in self.branches]
        is_cancelled = False
        while not all(task.done() for task in tasks):
            try:
                await asyncio.wait(tasks)
            except asyncio.CancelledError:
                is_cancelled = True
                self._stop_all("interrupted", "the explore call was stopped")
        for task in tasks:
            task.result()
        if is_cancelled:
            raise asyncio.CancelledError

    async def _one(self, branch: Branch, places: asyncio.Semaphore) -> None:
        running = self.exploring.running
        running.add(branch.id, lambda reason: self._stop(branch.id, "interrupted", reason))
        try:
            async with places:
                result = await self._result(branch)
            await self.exploring.ended(branch, result, self.order.base)
        finally:
            running.remove(branch.id)
            self._under_way.pop(branch.id, None)

    async def _result(self, branch: Branch) -> BranchResult:
        if branch.id in self._stopped:
            outcome, reason = self._stopped[branch.id]
            return BranchResult(outcome, f"{reason}; {NOT_STARTED}")
        work = self.exploring.work(branch, self.order, len(self.branches))
        await self.exploring.started(work, branch)
        under_way = self.executor.start(work, _Watch(self, branch))
        self._under_way[branch.id] = under_way
        if branch.id in self._stopped:
            under_way.stop(*self._stopped[branch.id])
        return await under_way.result()

    async def turn_finished(self, branch: Branch, turn: TurnFinished) -> None:
        reached = await self.exploring.turn_finished(branch, turn)
        if reached is not None:
            self._stop_all("limit", f"limit of the whole run: {reached}")

    def _stop(self, branch_id: BranchId, outcome: BranchOutcome, reason: str) -> None:
        self._stopped.setdefault(branch_id, (outcome, reason))
        if (under_way := self._under_way.get(branch_id)) is not None:
            under_way.stop(outcome, reason)

    def _stop_all(self, outcome: BranchOutcome, reason: str) -> None:
        for branch in self.branches:
            self._stop(branch.id, outcome, reason)


@dataclass(frozen=True, slots=True)
class _Watch:
    """What one running branch tells and asks."""

    call: _Call
    branch: Branch

    async def turn_finished(self, turn: TurnFinished) -> None:
        await self.call.turn_finished(self.branch, turn)

    async def approve(self, request: ApprovalRequest) -> DecideApproval:
        return await self.call.exploring.approve(self.branch, request)


def _permission(asked: Exploration, mode: Mode) -> Mode:
    """Research only reads; whoever has a copy of his own edits it freely."""
    if asked.mode == "research":
        return "plan"
    return "edit" if mode == "ask" else mode


__all__ = ["ExploreCaps", "Exploring", "Surround"]
