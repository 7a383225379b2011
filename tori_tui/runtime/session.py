"""A session as its front ends see it: commands in, snapshots and events out.

Must not decide what a run does; the runner does. Two tasks of one event loop: the inbox records
commands and answers questions at any moment, the work task takes turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from tori_tui.domain.commands import (
    AddComment,
    AnswerQuestion,
    CloseContext,
    Command,
    CompactContext,
    ContinueRun,
    DecideApproval,
    EditPlan,
    ForgetFact,
    InterruptRun,
    MoveComment,
    RedoRewind,
    Remember,
    RenameSession,
    RewindTo,
    RouteComment,
    RunShell,
    SearchMemory,
    StopBranch,
    SubmitPrompt,
    SwitchAgent,
    SwitchEffort,
    SwitchMode,
    SwitchModel,
    UndoRewind,
    WithdrawComment,
)
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import CommentReceived, ContextChanged, NoticeShown, QuestionAsked, SessionNamed
from tori_tui.domain.ids import TraceId
from tori_tui.domain.plain_text import mended
from tori_tui.domain.rewind import RewindRefused
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus, Subscription
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.runner import Runner, can_continue
from tori_tui.runtime.running_branches import RunningBranches
from tori_tui.runtime.user_shell import UserShell

IDLE_LOOK_S: Final = 0.01
"""Between looks whether an interrupted run has wound down."""


@dataclass(frozen=True, slots=True)
class Services:
    """What is served beside inbox and run, until the session closes."""

    want_facts: Callable[[SearchMemory | ForgetFact], None]
    """Takes what the user asks of the project's memory."""
    branches: RunningBranches
    """Finds a branch to stop."""
    shell: UserShell
    """Runs commands of the user's own."""
    switched: Callable[[SwitchModel | SwitchMode | SwitchEffort], Awaitable[None]]
    """Told of each switch of the user's; raises `ToriError` where it cannot be."""
    others: tuple[Callable[[], Coroutine[None, None, None]], ...] = ()
    sandbox: str = ""
    """The name of the one that confines commands, a colon, and what it holds."""


class Session:
    """One conversation with its trace.

    Args:
        directory: The trace's directory.
        inbox: Where commands wait; what works beside the run may put some in too.
        services: What is served beside inbox and run, until the session closes.
        notices: What the user should be told once at the start.
        prepare: Loads what the first request needs.
        shut: Awaited last: stops processes, closes providers and the store.
    """

    def __init__(
        self,
        *,
        directory: Path,
        bus: Bus,
        recorder: Recorder,
        runner: Runner,
        asking: Asking,
        inbox: asyncio.Queue[Command],
        services: Services,
        notices: tuple[str, ...],
        prepare: Callable[[], Awaitable[None]],
        shut: Callable[[], Awaitable[None]],
    ) -> None:
        self.trace_id = TraceId(directory.name)
        self.directory = directory
        self.notices = notices
        self.sandbox = services.sandbox
        self._bus = bus
        self._recorder = recorder
        self._runner = runner
        self._asking = asking
        self._inbox = inbox
        self._services = services
        self._branches = services.branches
        self._prepare = prepare
        self._shut = shut
        self._run_wanted = asyncio.Event()
        self._closing = asyncio.Event()
        self._closed = asyncio.Event()
        self._is_started = False
        self._current: asyncio.Task[None] | None = None
        self._interrupt_reason = ""
        self._is_wanted_again = False
        """The user spoke after his interrupt, while the run was still winding down."""

    @property
    def state(self) -> SessionState:
        """The session as it stands now, frozen."""
        return self._recorder.state

    @property
    def is_running(self) -> bool:
        """Whether a run is going on or about to begin; False from the moment its end is published."""
        return self._is_at_work or self._run_wanted.is_set()

    @property
    def _is_at_work(self) -> bool:
        return self._current is not None and self.state.status in ("running", "waiting")

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        """The model's questions that wait; a reader that missed one finds it here."""
        return self._asking.questions

    def subscribe(self) -> Subscription:
        """Register a reader; nothing that happens after this call is lost to it."""
        return self._bus.subscribe()

    def send(self, command: Command) -> None:
        """Hand in a command. Never blocks; what comes of it is told by events."""
        # What cannot be written down must not become part of the live state either.
        self._inbox.put_nowait(mended(command))

    async def prepare(self) -> None:
        """Load what the first request needs ahead of it.

        Raises:
            ToriError: The key cannot be read or the library not be loaded; the first request says so again.
        """
        await self._prepare()

    async def run(self) -> None:
        """Serve commands until `close`."""
        self._is_started = True
        try:
            async with asyncio.TaskGroup() as group:
                services = (self._serve_inbox, self._work, *self._services.others)
                tasks = [group.create_task(serve()) for serve in services]
                await self._closing.wait()
                # What was said before the close must not be lost with it.
                await self._inbox.join()
                for task in tasks:
                    task.cancel()
        finally:
            await self._shut()
            self._bus.close()
            self._closed.set()

    async def close(self) -> None:
        """Interrupt what runs, write everything down, and return when all of it is gone."""
        self._closing.set()
        if self._is_started:
            await self._closed.wait()
        else:
            await self._shut()

    async def _serve_inbox(self) -> None:
        while True:
            await self._take(await self._inbox.get())
            self._inbox.task_done()

    async def _take(self, command: Command) -> None:
        match command:
            case SubmitPrompt():
                await self._prompted(command)
            case ContinueRun():
                await self._continue(command)
            case AddComment():
                await self._commented(command)
            case RouteComment() | WithdrawComment() | MoveComment():
                await self._steer(command)
            case DecideApproval() | AnswerQuestion():
                self._answer(command)
            case InterruptRun():
                self._interrupt(command.reason or "by the user")
            case EditPlan():
                await self._runner.edit_plan(command)
                if not self.is_running:
                    await self._runner.apply_edits()
            case SwitchModel() | SwitchMode() | SwitchEffort():
                await self._configure(command)
            case SwitchAgent() | CloseContext() | Remember() | SearchMemory() | ForgetFact():
                await self._share(command)
            case RewindTo() | UndoRewind() | RedoRewind():
                await self._go_back(command)
            case CompactContext():
                await self._runner.compact(is_running=self.is_running)
            case StopBranch():
                self._stop_branch(command)
            case RunShell() | RenameSession():
                await self._do_beside(command)
            case _:
                assert_never(command)

    async def _steer(self, command: RouteComment | WithdrawComment | MoveComment) -> None:
        match command:
            case RouteComment():
                self._runner.route_comment(command)
            case WithdrawComment() if not await self._runner.steering.withdraw(command.comment_id):
                self._tell("That comment has taken effect already.")
            case MoveComment() if not await self._runner.steering.move(command):
                self._tell("That comment has taken effect already.")

    async def _do_beside(self, command: RunShell | RenameSession) -> None:
        """Do what changes nothing of a run."""
        match command:
            case RunShell():
                self._services.shell.want(command)
            case RenameSession():
                await self._recorder.record(SessionNamed(command.name.strip()))

    async def _share(
        self, command: SwitchAgent | CloseContext | Remember | SearchMemory | ForgetFact
    ) -> None:
        """Change who works, or what contexts or sessions know; in a run at its next safe point."""
        contexts = self._runner.identities.manager
        match command:
            case SwitchAgent():
                contexts.want(command.name)
                if not self.is_running:
                    await contexts.follow_wishes()
            case CloseContext() if self.is_running:
                self._tell("A run is going on: interrupt it, then close the context.")
            case CloseContext():
                await contexts.close_context_of(command.agent)
            case Remember():
                await contexts.remember(command.key, command.text.strip())
                await self._runner.identities.share_memory()
            case SearchMemory() | ForgetFact():
                self._services.want_facts(command)

    def _answer(self, command: DecideApproval | AnswerQuestion) -> None:
        match command:
            case DecideApproval() if not self._asking.decide(command):
                self._tell("That approval is not waiting any more.")
            case AnswerQuestion() if not self._asking.answer(command):
                self._tell("That question is not waiting any more.")

    def _stop_branch(self, command: StopBranch) -> None:
        if not self._branches.stop(command.branch_id, "stopped by the user"):
            known = ", ".join(self._branches.ids) or "none"
            self._tell(f"No branch {command.branch_id} is under way; there are: {known}.")

    async def _prompted(self, prompt: SubmitPrompt) -> None:
        if self.is_running:
            self._tell("A run is going on: say it as a comment, or interrupt first.")
            return
        await self._runner.hear_waiting()
        await self._runner.open_mission(prompt)
        self._run_wanted.set()

    async def _continue(self, command: ContinueRun) -> None:
        if self.is_running:
            return
        if can_continue(self.state):
            await self._runner.set_check(command.check)
            self._run_wanted.set()
        else:
            self._tell("There is nothing to go on with: the mission is done.")

    async def _go_back(self, command: RewindTo | UndoRewind | RedoRewind) -> None:
        """Go back in the idle session; a run is interrupted for it, and a prompt waits behind it."""
        while self.is_running or self._current is not None:
            self._interrupt("going back")
            await asyncio.sleep(IDLE_LOOK_S)
        try:
            match command:
                case RewindTo():
                    plan = await self._runner.going_back.rewinding.plan(
                        goal=command.goal, turn=command.turn, files=command.files, messages=command.messages
                    )
                case UndoRewind():
                    plan = await self._runner.going_back.rewinding.plan_next("undo")
                case RedoRewind():
                    plan = await self._runner.going_back.rewinding.plan_next("redo")
            await self._runner.going_back.rewinding.carry_out(plan)
        except RewindRefused as refused:
            self._tell(str(refused))

    async def _commented(self, comment: AddComment) -> None:
        received = CommentReceived(comment.comment_id, comment.text, comment.aim, comment.images)
        if self.is_running:
            self._is_wanted_again = bool(self._interrupt_reason)
            await self._runner.receive_comment(received)
        elif comment.aim and self.state.tree.mission is not None:
            # Aimed at the plan of the mission that is there: it goes on with it.
            await self._runner.receive_comment(received)
            self._run_wanted.set()
        else:
            await self._runner.hear_waiting()
            # After an interrupt or a limit, a word is about the work that is still open.
            is_open = can_continue(self.state) and bool(self.state.tree.open_goals)
            await self._prompted(SubmitPrompt(comment.text, continues=is_open, images=comment.images))

    async def _configure(self, command: SwitchModel | SwitchMode | SwitchEffort) -> None:
        context = self.state.active_context
        try:
            await self._services.switched(command)
        except ToriError as error:
            self._tell(str(error))
            return
        match command:
            case SwitchModel():
                await self._recorder.record(ContextChanged(context, "configured", model=command.model))
            case SwitchMode():
                await self._recorder.record(ContextChanged(context, "configured", mode=command.mode))
            case SwitchEffort():
                await self._recorder.record(ContextChanged(context, "configured", effort=command.effort))

    def _interrupt(self, reason: str) -> None:
        self._services.shell.stop()
        if self._interrupt_reason or not self.is_running:
            return
        self._interrupt_reason = reason
        if self._current is not None:
            self._current.cancel()

    def _tell(self, text: str) -> None:
        self._recorder.announce(NoticeShown(text, "warning"))

    async def _work(self) -> None:
        """Run whenever a run is wanted; an interrupt ends the run, closing ends everything."""
        try:
            while True:
                await self._run_wanted.wait()
                async with asyncio.TaskGroup() as group:
                    self._current = group.create_task(self._run_once())
                    if self._interrupt_reason:
                        # The interrupt came before the run's first step.
                        self._current.cancel()
                if self._current.cancelled():
                    self._run_wanted.clear()
                    await self._runner.wind_down(self._interrupt_reason)
                self._current = None
                self._interrupt_reason = ""
                if self._is_wanted_again:
                    self._is_wanted_again = False
                    await self._runner.hear_waiting()
                    self._run_wanted.set()
        except asyncio.CancelledError:
            if self._is_at_work:
                await self._runner.wind_down("tori was closed")
            raise

    async def _run_once(self) -> None:
        await self._runner.begin()
        # Only now: a prompt that comes meanwhile must find a run, and one that comes at its end none.
        self._run_wanted.clear()
        await self._runner.run()


__all__ = ["Services", "Session"]
