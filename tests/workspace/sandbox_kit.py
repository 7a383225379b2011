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

from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.sandbox.choice import Backend, open_sandbox
from tori_tui.workspace.sandbox.confinement import Sandbox, SandboxRefused, SandboxTerms

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

    @property
    def root(self) -> Path:
        return self.base / "tree"

    @property
    def home(self) -> Path:
        return self.base / "home"

    async def run(self, command: str, timeout_s: float = 20) -> tuple[CommandResult, str]:
        """Run a command confined, through the same gate as every command of the agent's."""

        async def started(_: object) -> None:
            return None

        path = self.base / "output.log"
        with CommandOutput.open(path) as output:
            result = await run_command(
                command,
                cwd=self.root,
                env={**self.environ, "VICTIM": str(self.victim.pid), "PORT": str(self.port)},
                call_id="attack",
                output=output,
                timeout_s=timeout_s,
                descendants=Descendants(),
                on_started=started,
                confinement=self.sandbox.confine(self.root),
            )
        return result, path.read_text("utf-8", "replace")


def _listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@contextmanager
def world_of(backend: Backend, base: Path, *, network: bool = False) -> Iterator[World]:
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
        yield World(base, server.getsockname()[1], victim, sandbox, environ)
    finally:
        victim.kill()
        victim.wait()
        sandbox.close()
        for one in sockets:
            one.close()


__all__ = ["KEY", "PYTHON", "World", "world_of"]
