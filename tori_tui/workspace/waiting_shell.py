"""A shell that waits at its gate: it knows nothing of its command before tori tells it through a pipe.

Must not begin anything of its own, nor outlive the other end of the pipe.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.descendants import MARKER_VARIABLE
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.programs import find_program
from tori_tui.workspace.sandbox.confinement import UNCONFINED, Confinement

ARGUMENT_LIMIT_BYTES: Final = 128 * 1024
"""Linux takes no longer argument, its closing NUL included (MAX_ARG_STRLEN)."""


class CommandNotStarted(ToriError):
    """The system would not run the command at all."""


@dataclass(frozen=True, slots=True)
class ShellTerms:
    """What a shell is started with."""

    cwd: Path
    """Where it stands."""
    env: Mapping[str, str]
    """Its whole environment; a marker is added."""
    confinement: Confinement = UNCONFINED
    """Of the sandbox, if there is one."""


@dataclass(eq=False, slots=True)
class WaitingShell:
    """A `/bin/sh` that reads what to do from a pipe; whoever started it lets it run or ends it."""

    process: subprocess.Popen[bytes]
    pipe: int
    """Our end; -1 when it is closed."""

    async def let_run(self, shell: str, command: bytes, marker: str) -> None:
        """Have it become a shell with one command. One that has ended meanwhile tells so by its end.

        Args:
            shell: The program, for `-c`.
            command: Its text.
            marker: Goes into the environment, so that everything below is found.
        """
        text = b"export %s=%s; exec %s -c -- %s </dev/null\n" % (
            MARKER_VARIABLE.encode(),
            shlex.quote(marker).encode(),
            _quoted(os.fsencode(shell)),
            _quoted(command),
        )
        with suppress(BrokenPipeError):
            await _write_all(self.pipe, text)

    def close(self) -> None:
        """Close our end; a shell that still waits ends without having run anything."""
        if self.pipe >= 0:
            os.close(self.pipe)
            self.pipe = -1


def start_waiting_shell(terms: ShellTerms, marker: str, output: int) -> WaitingShell:
    """Start one, in a session of its own.

    The gate stands within the sandbox, whose world is made while tori does something else.

    Args:
        terms: Where and how.
        marker: Until it is let run.
        output: The handle of the file that gets stdout and stderr.

    Raises:
        CommandNotStarted: The system refused.
    """
    confinement = terms.confinement
    inside = {**terms.env, **confinement.environment, MARKER_VARIABLE: marker}
    read_end, write_end = os.pipe()

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*confinement.prefix, "/bin/sh"],
            cwd=terms.cwd,
            env={
                name: value for name, value in inside.items() if value or name not in confinement.environment
            },
            stdin=read_end,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    try:
        process = _in_confined_thread(confinement.confine_thread, start)
    except (OSError, ValueError) as error:
        os.close(write_end)
        hint = f"The working directory {terms.cwd} is gone." if not terms.cwd.is_dir() else ""
        raise CommandNotStarted(f"The command could not be started: {error}", hint) from error
    finally:
        os.close(read_end)
    return WaitingShell(process, write_end)


def command_bytes(command: str) -> bytes:
    """Return what a shell is given.

    Raises:
        CommandNotStarted: No shell could be given that.
    """
    try:
        data = command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise CommandNotStarted(
            f"The command could not be started: {error}",
            "It holds half a character (a lone surrogate); send it again without.",
        ) from error
    if b"\0" in data:
        raise CommandNotStarted(
            "The command could not be started: it holds a NUL byte.",
            "A command cannot hold a NUL byte; write it to a file with a tool, or use printf '\\0'.",
        )
    if len(data) >= ARGUMENT_LIMIT_BYTES:
        raise CommandNotStarted(
            f"The command could not be started: it has {len(data):,} bytes.",
            "It is too long for the system (128 KiB): write it to a script first and run that.",
        )
    return data


def shell_program(terms: ShellTerms) -> str:
    """Return the bash of the user, never one of the work tree; any shell where there is none."""
    return find_program("bash", terms.env, find_work_tree(terms.cwd) or terms.cwd) or "/bin/sh"


def _quoted(data: bytes) -> bytes:
    """Quote any bytes for a shell, as `shlex.quote` does text."""
    return b"'" + data.replace(b"'", b"'\"'\"'") + b"'"


async def _write_all(pipe: int, data: bytes) -> None:
    """Write more than the pipe has room for, as its other end is read; whoever waits may be cancelled."""
    os.set_blocking(pipe, False)
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(pipe, rest) :]
        except BlockingIOError:
            await _has_room(pipe)


async def _has_room(pipe: int) -> None:
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    loop.add_writer(pipe, told.set)
    try:
        await told.wait()
    finally:
        loop.remove_writer(pipe)


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


__all__ = [
    "CommandNotStarted",
    "ShellTerms",
    "WaitingShell",
    "command_bytes",
    "shell_program",
    "start_waiting_shell",
]
