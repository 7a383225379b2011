"""Commands that go on in the background: started, read, stopped, and dead with the session.

Must not outlive `close`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.stopping import GRACE_S, stop_processes
from tori_tui.workspace.waiting_shell import ShellTerms

JOBS_LIMIT: Final = 16
"""More at once is a mistake, not a plan."""

STOP_WAIT_S: Final = 0.3
"""An interrupt waits so long for its command's end, which TERM brings to nearly all in a few ms."""

T = TypeVar("T")

JobState = Literal["running", "ended", "stopped", "failed"]


class JobUnknown(ToriError):
    """There is no such job."""


class JobsFull(ToriError):
    """Too many run at once."""


@dataclass(eq=False, slots=True)
class Job:
    """One command in the background."""

    id: str
    command: str
    output: CommandOutput
    task: asyncio.Task[CommandResult]
    started_s: float
    n_read_bytes: int = 0
    """How much of the output the model has seen."""

    @property
    def state(self) -> JobState:
        """What became of it."""
        if not self.task.done():
            return "running"
        if self.task.cancelled():
            return "stopped"
        return "failed" if self.task.exception() else "ended"

    @property
    def result(self) -> CommandResult | None:
        """How it ended; None while it runs and where it was stopped."""
        return self.task.result() if self.state == "ended" else None

    async def wait(self, limit_s: float) -> None:
        """Wait until it has ended, at most that long."""
        if limit_s > 0:
            await asyncio.wait({self.task}, timeout=limit_s)


class Jobs:
    """The background jobs of one session, and what finds the processes of every command."""

    def __init__(self, descendants: Descendants) -> None:
        self.descendants: Final = descendants
        self._jobs: dict[str, Job] = {}
        self._n_started = 0
        self._stopping: set[asyncio.Task[object]] = set()

    def all(self) -> tuple[Job, ...]:
        """Return every job of the session, in the order of their start."""
        return tuple(self._jobs.values())

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            JobUnknown: There is none with that id.
        """
        job = self._jobs.get(job_id.strip())
        if job is None:
            known = ", ".join(self._jobs) or "none"
            raise JobUnknown(f"There is no job {job_id!r}.", f"Jobs of this session: {known}.")
        return job

    async def start(
        self,
        command: str,
        terms: ShellTerms,
        *,
        call_id: str,
        output: CommandOutput,
        on_started: Callable[[ProcessRef], Awaitable[None]],
        on_ended: Callable[[], Awaitable[None]] | None = None,
    ) -> Job:
        """Start a command and return when it is past its gate. The output is ours from then on.

        Args:
            command: As for `run_command`, like the rest.
            terms: Where and how it runs.
            call_id: Marks its processes.
            output: Gets what it prints.
            on_started: Awaited before it begins.
            on_ended: Awaited when it has ended or was stopped, if it began.

        Raises:
            CommandNotStarted: The system refused.
            JobsFull: Too many run.
        """
        if sum(job.state == "running" for job in self._jobs.values()) >= JOBS_LIMIT:
            raise JobsFull(f"{JOBS_LIMIT} jobs run already.", "Stop one with bash_stop first.")
        started = asyncio.Event()

        async def announced(ref: ProcessRef) -> None:
            await on_started(ref)
            started.set()

        async def run() -> CommandResult:
            try:
                return await run_command(
                    command,
                    terms,
                    call_id=call_id,
                    output=output,
                    timeout_s=None,
                    descendants=self.descendants,
                    on_started=announced,
                )
            finally:
                if on_ended is not None and started.is_set():
                    await on_ended()

        task = asyncio.create_task(run())
        await _passed_gate(task, started)
        self._n_started += 1
        job = Job(f"b{self._n_started}", command, output, task, time.monotonic())
        self._jobs[job.id] = job
        return job

    async def in_foreground(self, run: Callable[[], Coroutine[None, None, T]]) -> T:
        """Run a command that is not a job, once nothing is left of those interrupted before.

        Where this one is interrupted and ignores TERM, its end is not waited for: it is killed beside
        what follows.
        """
        await self._wait_for_interrupted()
        task = asyncio.create_task(run())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            self._stopping.add(task)
            await asyncio.wait({task}, timeout=STOP_WAIT_S)
            raise

    async def stop(self, job_id: str) -> Job:
        """Stop a job with everything below it; one that has ended stays as it is.

        Raises:
            JobUnknown: There is none with that id.
        """
        job = self.get(job_id)
        await _cancelled(job.task)
        return job

    async def close(self) -> None:
        """Stop every job, and what any command of the session may have left; forget them."""
        await self._wait_for_interrupted()
        await asyncio.gather(*(_cancelled(job.task) for job in self._jobs.values()))
        await stop_processes(self.descendants.unclaimed, GRACE_S)
        for job in self._jobs.values():
            job.output.close()
        self._jobs.clear()

    async def _wait_for_interrupted(self) -> None:
        if self._stopping:
            await asyncio.wait(self._stopping)
            self._stopping.clear()


async def _passed_gate(task: asyncio.Task[CommandResult], started: asyncio.Event) -> None:
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not started.is_set():
            await task
    except BaseException:
        await _cancelled(task)
        raise
    finally:
        await _cancelled(waiting)


async def _cancelled(
    task: asyncio.Task[CommandResult] | asyncio.Task[bool] | asyncio.Task[Literal[True]],
) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


__all__ = ["Job", "JobState", "JobUnknown", "Jobs", "JobsFull"]
