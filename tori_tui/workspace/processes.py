"""Runs one shell command: gated, in a session of its own, its output in a file, nothing left behind.

Must not interpret what a command prints or decide whether it may run.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput, OutputFollower
from tori_tui.workspace.descendants import (
    MARKER_VARIABLE,
    CommandTree,
    Descendants,
    call_marker,
    left_of,
)
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.process_table import ProcessFacts, send_signal
from tori_tui.workspace.programs import find_program
from tori_tui.workspace.sandbox.confinement import UNCONFINED, Confinement

GRACE_S: Final = 2.0
"""Between TERM and KILL (DESIGN §11)."""

FLOOD_GRACE_S: Final = 0.2
"""The same for a command that prints for ever: each second more may be gigabytes."""

KILL_WAIT_S: Final = 5.0
"""What cannot be killed in this time is stuck in the kernel; it is not waited for."""

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

GATE: Final = f'read -r {MARKER_VARIABLE} && exec "$@" </dev/null'
"""Read by /bin/sh: nothing runs before the marker comes, and never if tori is gone before it sends one.

It stands within the sandbox, whose world is made while tori writes down that the command begins.
"""

End = Literal["exited", "timed_out", "too_much_output"]


class CommandNotStarted(ToriError):
    """The system would not run the command at all."""


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
    *,
    cwd: Path,
    env: Mapping[str, str],
    call_id: str,
    output: CommandOutput,
    timeout_s: float | None,
    descendants: Descendants,
    on_started: Callable[[ProcessRef], Awaitable[None]],
    on_output: Callable[[str], None] | None = None,
    confinement: Confinement = UNCONFINED,
) -> CommandResult:
    """Run a command with bash and return when nothing of it is alive.

    Args:
        command: For `bash -c`.
        cwd: Where it runs.
        env: Its whole environment; a marker is added.
        call_id: Marks its processes, so that they are found wherever they went.
        output: Gets stdout and stderr.
        timeout_s: From its real start on; None for no limit.
        descendants: The one of this tori.
        on_started: Awaited before the command begins; if it fails, the command never runs.
        on_output: Is handed more of the output while it runs, decoded.
        confinement: Of the sandbox, if there is one.

    Raises:
        CommandNotStarted: The system refused; nothing ran.
    """
    descendants.prepare()
    process, gate = _start_gated(command, cwd, env, call_id, output, confinement)
    tree = descendants.enter(process.pid, call_id)
    exited = _ExitWatch(process.pid, lambda: process.poll() is not None)
    try:
        await on_started(tree.ref)
        began_s = time.monotonic()
        with suppress(BrokenPipeError):  # it was killed at its gate, which its end tells
            os.write(gate, f"{tree.marker}\n".encode())
        end = await _follow(exited, tree, output, timeout_s, descendants, on_output)
        stopped = _without_wrapper(await _stop_rest(tree, descendants, end), confinement)
        duration_s = time.monotonic() - began_s
    except BaseException:
        await _stop_whatever_comes(tree, descendants)
        raise
    finally:
        exited.close()
        os.close(gate)
        process.poll()
        descendants.leave(tree)
        output.cut_to_limit()
    return _result(process.returncode, end, duration_s, output.size_bytes, stopped)


async def kill_left_over(commands: Mapping[ProcessRef, str]) -> bool:
    """Kill what an earlier tori left running, found again by pid, start time and marker.

    Args:
        commands: Each with the id of its call.

    Returns:
        Whether there was anything. A process that only got the same pid is never touched.
    """
    return bool(await stop_processes(lambda: left_of(commands), GRACE_S))


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


def _start_gated(
    command: str,
    cwd: Path,
    env: Mapping[str, str],
    call_id: str,
    output: CommandOutput,
    confinement: Confinement,
) -> tuple[subprocess.Popen[bytes], int]:
    shell = find_program("bash", env, find_work_tree(cwd) or cwd) or "/bin/sh"
    inside = {**env, **confinement.environment, MARKER_VARIABLE: call_marker(call_id)}
    read_end, write_end = os.pipe()

    def start() -> subprocess.Popen[bytes]:
        text = command.encode("utf-8", "surrogateescape")
        return subprocess.Popen(
            [*confinement.prefix, "/bin/sh", "-c", GATE, "gate", shell, "-c", "--", text],
            cwd=cwd,
            env={
                name: value for name, value in inside.items() if value or name not in confinement.environment
            },
            stdin=read_end,
            stdout=output.handle,
            stderr=output.handle,
            start_new_session=True,
        )

    try:
        process = _in_confined_thread(confinement.confine_thread, start)
    except (OSError, ValueError) as error:
        os.close(write_end)
        raise CommandNotStarted(f"The command could not be started: {error}", _hint(error, cwd)) from error
    finally:
        os.close(read_end)
    return process, write_end


def _in_confined_thread(
    confine_thread: Callable[[], None] | None, start: Callable[[], subprocess.Popen[bytes]]
) -> subprocess.Popen[bytes]:
    """Start a process from a thread that is confined first and ends then, so that tori itself stays free."""
    if confine_thread is None:
        return start()
    with ThreadPoolExecutor(max_workers=1) as threads:
        # Where the first fails, its error comes out here and the second never begins.
        confining = threads.submit(confine_thread)
        confining.result()
        return threads.submit(start).result()


def _hint(error: Exception, cwd: Path) -> str:
    match error:
        case FileNotFoundError() | NotADirectoryError() if not cwd.is_dir():
            return f"The working directory {cwd} is gone."
        case UnicodeEncodeError():
            return "It holds half a character (a lone surrogate); send it again without."
        case ValueError():
            return "A command cannot hold a NUL byte; write it to a file with a tool, or use printf '\\0'."
        case OSError() if str(error) and error.errno == 7:
            return "It is too long for the system (128 KiB): write it to a script first and run that."
        case _:
            return ""


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
        _kill_at_once(lambda: descendants.living(tree))
        raise


async def stop_processes(living: Callable[[], list[ProcessFacts]], grace_s: float) -> tuple[str, ...]:
    """Send TERM, then KILL, until nothing is there any more; return the names of what was.

    Args:
        living: Looks again at each call.
        grace_s: Between TERM and KILL.
    """
    names: dict[tuple[int, int], str] = {}
    began_s = time.monotonic()
    pause_s = 0.002
    while alive := living():
        passed_s = time.monotonic() - began_s
        if passed_s > grace_s + KILL_WAIT_S:
            break
        for facts in alive:
            if passed_s >= grace_s:
                send_signal(facts, signal.SIGKILL)
            elif facts.key not in names:
                send_signal(facts, signal.SIGTERM)
                # A stopped process gets TERM only when it goes on.
                send_signal(facts, signal.SIGCONT)
            names[facts.key] = facts.name
        await asyncio.sleep(min(pause_s, max(0.002, grace_s - passed_s)))
        pause_s = min(pause_s * 2, 0.05)
    return tuple(names.values())


def _without_wrapper(stopped: tuple[str, ...], confinement: Confinement) -> tuple[str, ...]:
    wrapper = os.path.basename(confinement.prefix[0]) if confinement.prefix else ""
    return tuple(name for name in stopped if name != wrapper)


def _kill_at_once(living: Callable[[], list[ProcessFacts]]) -> None:
    ends_s = time.monotonic() + 1.0
    while (alive := living()) and time.monotonic() < ends_s:
        for facts in alive:
            send_signal(facts, signal.SIGKILL)
        time.sleep(0.002)


def _result(
    return_code: int | None, end: End, duration_s: float, output_bytes: int, stopped: tuple[str, ...]
) -> CommandResult:
    if end != "exited" or return_code is None:
        return CommandResult(end, None, "", duration_s, output_bytes, stopped)
    if return_code < 0:
        name = signal.Signals(-return_code).name if -return_code in set(signal.Signals) else str(-return_code)
        return CommandResult(end, 128 - return_code, name, duration_s, output_bytes, stopped)
    return CommandResult(end, return_code, "", duration_s, output_bytes, stopped)


__all__ = [
    "GRACE_S",
    "CommandNotStarted",
    "CommandResult",
    "End",
    "kill_left_over",
    "run_command",
    "stop_processes",
]
