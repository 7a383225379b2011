"""A work tree, a home with a key, a socket, a server and a victim: everything that a sandbox has to keep."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.workspace.processes_kit import eventually
from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import MARKER_VARIABLE, Descendants
from tori_tui.workspace.process_table import children_of, read_variable, walk_below
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.sandbox.choice import Backend, open_sandbox
from tori_tui.workspace.sandbox.confinement import Sandbox, SandboxRefused, SandboxTerms
from tori_tui.workspace.shell_ahead import SHELL, WAITING, ShellAhead
from tori_tui.workspace.waiting_shell import ShellTerms

KEY = "PRIVATE-KEY-MATERIAL"
PYTHON = f"{sys.base_prefix}/bin/python3"
"""Not the one of the tests: their environment may lie in the temp folder, which a sandbox hides."""


@dataclass
class World:
    """What an attack may hit."""

    base: Path
    port: int
    victim: subprocess.Popen[bytes]
    sandbox: Sandbox
    environ: dict[str, str] = field(default_factory=dict)
    is_ahead: bool = False
    """Whether each command gets a shell that waited for it."""

    @property
    def root(self) -> Path:
        return self.base / "tree"

    @property
    def home(self) -> Path:
        return self.base / "home"

    async def run(self, command: str, timeout_s: float = 20) -> tuple[CommandResult, str]:
        """Run a command confined, through the same gate as every command of the agent's."""

        refs: list[ProcessRef] = []

        async def started(ref: ProcessRef) -> None:
            refs.append(ref)

        path = self.base / "output.log"
        env = {**self.environ, "VICTIM": str(self.victim.pid), "PORT": str(self.port)}
        descendants = Descendants()
        ahead = ShellAhead(self.sandbox, descendants)
        with CommandOutput.open(path) as output:
            terms = ShellTerms(self.root, env, self.sandbox.confine(self.root))
            waiting = await shell_that_waits(ahead, terms, output) if self.is_ahead else 0
            result = await run_command(
                command,
                terms,
                call_id="attack",
                output=output,
                timeout_s=timeout_s,
                descendants=descendants,
                on_started=started,
                ahead=ahead if self.is_ahead else None,
            )
        await ahead.close()
        assert not self.is_ahead or [ref.pgid for ref in refs] == [waiting]
        return result, path.read_text("utf-8", "replace")


def waiting_pids() -> list[int]:
    """Our own children that wait for a command."""
    return [pid for pid in children_of(os.getpid()) if read_variable(pid, MARKER_VARIABLE) == WAITING]


async def shell_that_waits(ahead: ShellAhead, terms: ShellTerms, output: CommandOutput) -> int:
    """Have one made and return its pid."""
    ahead.make_soon(terms, output)
    return await one_that_stands()


async def one_that_stands() -> int:
    """Return the pid of the one that waits, once its world is made."""
    await eventually(lambda: [is_made(pid) for pid in waiting_pids()] == [True])
    return waiting_pids()[0]


def is_made(pid: int) -> bool:
    return any(facts.name == SHELL for facts in walk_below(pid))


def _listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@contextmanager
def world_of(
    backend: Backend, base: Path, *, network: bool = False, is_ahead: bool = False
) -> Iterator[World]:
    """Build it; skip, by the kernel's name, where the backend cannot be had."""
    home, root = base / "home", base / "tree"
    for folder in (home / ".ssh", home / ".aws", root / "src"):
        folder.mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text(KEY)
    (home / ".aws" / "credentials").write_text(KEY)
    (home / ".netrc").write_text(KEY)
    (home / "notes.txt").write_text("a note")
    (root / "app.py").write_text("app\n")
    for name in (".trace", ".tori"):
        (root / name).mkdir()
        (root / name / "kept").write_text("kept")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    subprocess.run(["git", "init", "-q", str(root / "lib" / "own")], check=True)
    (root / "linked").mkdir()
    (root / "linked" / ".git").write_text("gitdir: ../lib/own/.git\n")
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "DOCKER_HOST": f"unix://{home}/docker.sock",
        "SSH_AUTH_SOCK": f"{home}/agent.sock",
    }
    try:
        sandbox = open_sandbox(SandboxTerms(root, environ, network=network), backend)
    except SandboxRefused as error:
        pytest.skip(f"kernel: {error}")
    server = socket.create_server(("127.0.0.1", 0))
    sockets = [server, *(_listening(home / name) for name in ("docker.sock", "agent.sock"))]
    sandbox.close()
    sandbox = open_sandbox(SandboxTerms(root, environ, network=network), backend)
    victim = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    try:
        yield World(base, server.getsockname()[1], victim, sandbox, environ, is_ahead)
    finally:
        victim.kill()
        victim.wait()
        sandbox.close()
        for one in sockets:
            one.close()


__all__ = [
    "KEY",
    "PYTHON",
    "World",
    "one_that_stands",
    "shell_that_waits",
    "waiting_pids",
    "world_of",
]
