"""Runs one shell command: gated, in a session of its own, its output in a file, nothing left behind.

Must not interpret what a command prints or decide whether it may run.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput, OutputFollower
from tori_tui.workspace.descendants import CommandTree, Descendants, call_marker
from tori_tui.workspace.sandbox.confinement import Confinement
from tori_tui.workspace.shell_ahead import ShellAhead
from tori_tui.workspace.stopping import GRACE_S, kill_at_once, stop_processes
from tori_tui.workspace.waiting_shell import ShellTerms, command_bytes, shell_program, start_waiting_shell

FLOOD_GRACE_S: Final = 0.2
"""Between TERM and KILL for a command that prints for ever: each second more may be gigabytes."""

SETTLE_S: Final = 0.1
"""What a command started beside itself (`> >(tee log)`) may still take to end of its own."""

FIRST_SETTLE_S: Final = 0.001
"""A sandbox's own first process ends about that soon after the command."""

POLL_S: Final = 0.1
FIRST_POLL_S: Final = 0.01
SHORTEST_POLL_S: Final = 0.004
LOOK_BELOW_EVERY_S: Final = 1.0
LIVE_BYTES: Final = 32_768
"""What one look at the output hands on; more is shown by nobody."""

End = Literal["exited", "timed_out", "too_much_output"]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    end: End
    exit_code: int | None
    """As a shell tells it (128 and more: killed by a signal); None where tori stopped it."""
    signal: str
    """The signal that ended its first process, where one did and it was not ours: `SIGKILL`."""
    duration_s: float
    output_bytes: int
    stopped: tuple[str, ...]
    """Names of the processes that it had left behind."""


async def run_command(
    command: str,
    terms: ShellTerms,
    *,
    call_id: str,
    output: CommandOutput,
    timeout_s: float | None,
    descendants: Descendants,
    on_started: Callable[[ProcessRef], Awaitable[None]],
    on_output: Callable[[str], None] | None = None,
    ahead: ShellAhead | None = None,
) -> CommandResult:
    """Run a command with bash and return when nothing of it is alive.

    Args:
        command: For `bash -c`.
        terms: Where and how it runs.
        call_id: Marks its processes, so that they are found wherever they went.
        output: Gets stdout and stderr.
        timeout_s: From its real start on; None for no limit.
        descendants: The one of this tori.
        on_started: Awaited before the command begins; if it fails, the command never runs.
        on_output: Is handed more of the output while it runs, decoded.
        ahead: May have a shell that waits already; makes the next one afterwards.

    Raises:
        CommandNotStarted: The system refused; nothing ran.
    """
    text = command_bytes(command)
    descendants.prepare()
    shell = ahead.take(terms, output) if ahead is not None else None
    if shell is None:
        shell = start_waiting_shell(terms, call_marker(call_id), output.handle)
    process = shell.process
    tree = descendants.enter(process.pid, call_id)
    exited = _ExitWatch(process.pid, lambda: process.poll() is not None)
    try:
        await on_started(tree.ref)
        began_s = time.monotonic()
        await shell.let_run(shell_program(terms), text, tree.marker)
        end = await _follow(exited, tree, output, timeout_s, descendants, on_output)
        stopped = _without_wrapper(await _stop_rest(tree, descendants, end), terms.confinement)
        duration_s = time.monotonic() - began_s
    except BaseException:
        await _stop_whatever_comes(tree, descendants)
        raise
    finally:
        exited.close()
        shell.close()
        process.poll()
        descendants.leave(tree)
        output.cut_to_limit()
        if ahead is not None:
            ahead.make_soon(terms, output)
    return _result(process.returncode, end, duration_s, output.size_bytes, stopped)


class _ExitWatch:
    """Tells when a process has ended, without reaping it: its number stays ours meanwhile.

    Args:
        pid: The process.
        has_ended: Asked where the system cannot tell of an end.
    """

    def __init__(self, pid: int, has_ended: Callable[[], bool]) -> None:
        self._has_ended = has_ended
        self._ended = asyncio.Event()
        self._handle = _exit_handle(pid)
        if self._handle >= 0:
            asyncio.get_running_loop().add_reader(self._handle, self._tell)

    async def wait(self, limit_s: float) -> bool:
        """Return whether it has ended within that time."""
        if self._handle < 0:
            await asyncio.sleep(min(limit_s, FIRST_POLL_S))
            return self._has_ended()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._ended.wait()
        return self._ended.is_set()

    def close(self) -> None:
        """Stop watching."""
        if self._handle >= 0:
            asyncio.get_running_loop().remove_reader(self._handle)
            os.close(self._handle)
            self._handle = -1

    def _tell(self) -> None:
        self._ended.set()
        # The handle stays readable: the loop would call this again and again.
        asyncio.get_running_loop().remove_reader(self._handle)


def _exit_handle(pid: int) -> int:
    """Return what becomes readable at a process's end; -1 where the system has no such thing."""
    if not hasattr(os, "pidfd_open"):
        return -1
    with suppress(OSError):
        return os.pidfd_open(pid)
    return -1


async def _follow(
    exited: _ExitWatch,
    tree: CommandTree,
    output: CommandOutput,
    timeout_s: float | None,
    descendants: Descendants,
    on_output: Callable[[str], None] | None,
) -> End:
    """Watch a command till it ends or has to."""
    follower = OutputFollower(output)
    began_s = looked_s = polled_s = time.monotonic()
    pause_s, size_bytes = FIRST_POLL_S, 0
    while True:
        left_s = timeout_s - (time.monotonic() - began_s) if timeout_s is not None else POLL_S
        has_ended = await exited.wait(max(0.0, min(pause_s, left_s)))
        now_s = time.monotonic()
        grown_bytes, size_bytes = output.size_bytes - size_bytes, output.size_bytes
        if on_output is not None and (text := follower.read_new(LIVE_BYTES, is_last=has_ended)):
            on_output(text)
        if has_ended:
            return "exited"
        if size_bytes > output.limit_bytes:
            return "too_much_output"
        if timeout_s is not None and now_s - began_s >= timeout_s:
            return "timed_out"
        if now_s - looked_s >= LOOK_BELOW_EVERY_S:
            # What is seen here is known later, wherever it went and however it cleaned its environment.
            descendants.living(tree)
            looked_s = now_s
        pause_s = _next_pause_s(pause_s, grown_bytes, now_s - polled_s, output.limit_bytes - size_bytes)
        polled_s = now_s


def _next_pause_s(pause_s: float, grown_bytes: int, elapsed_s: float, room_bytes: int) -> float:
    """Look again before a fast writer can be far beyond its limit."""
    calm_s = min(pause_s * 1.5, POLL_S)
    if grown_bytes <= 0:
        return calm_s
    full_in_s = room_bytes * elapsed_s / grown_bytes
    return max(SHORTEST_POLL_S, min(calm_s, full_in_s / 2))


async def _stop_rest(tree: CommandTree, descendants: Descendants, end: End) -> tuple[str, ...]:
    """Stop a command that has to end, or what one that ended has left behind; return those names."""
    if end != "exited":
        await stop_processes(
            lambda: descendants.living(tree), FLOOD_GRACE_S if end == "too_much_output" else GRACE_S
        )
        return ()
    settled_s = time.monotonic() + SETTLE_S
    pause_s = FIRST_SETTLE_S
    while alive := descendants.living(tree):
        left_s = settled_s - time.monotonic()
        if left_s <= 0:
            return await stop_processes(lambda: descendants.living(tree), GRACE_S)
        rest = _ExitWatch(alive[0].pid, lambda: False)
        await rest.wait(min(pause_s, left_s))
        rest.close()
        pause_s *= 1.5
    return ()


async def _stop_whatever_comes(tree: CommandTree, descendants: Descendants) -> None:
    """Stop everything, also when we are cancelled once more meanwhile."""
    try:
        await stop_processes(lambda: descendants.living(tree), GRACE_S)
    except asyncio.CancelledError:
        kill_at_once(lambda: descendants.living(tree))
        raise


def _without_wrapper(stopped: tuple[str, ...], confinement: Confinement) -> tuple[str, ...]:
    wrapper = os.path.basename(confinement.prefix[0]) if confinement.prefix else ""
    return tuple(name for name in stopped if name != wrapper)


def _result(
    return_code: int | None, end: End, duration_s: float, output_bytes: int, stopped: tuple[str, ...]
) -> CommandResult:
    if end != "exited" or return_code is None:
        return CommandResult(end, None, "", duration_s, output_bytes, stopped)
    if return_code < 0:
        name = signal.Signals(-return_code).name if -return_code in set(signal.Signals) else str(-return_code)
        return CommandResult(end, 128 - return_code, name, duration_s, output_bytes, stopped)
    return CommandResult(end, return_code, "", duration_s, output_bytes, stopped)


__all__ = ["CommandResult", "End", "run_command"]
