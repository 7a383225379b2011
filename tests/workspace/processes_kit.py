from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import OUTPUT_LIMIT_BYTES, CommandOutput
from tori_tui.workspace.descendants import MARKER_VARIABLE, Descendants
from tori_tui.workspace.process_table import all_pids, read_facts, read_variable
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.sandbox.confinement import UNCONFINED, Confinement
from tori_tui.workspace.waiting_shell import ShellTerms

CALL = f"call-{os.getpid()}"
"""Of this test process alone: another one's commands run at the same time."""


def marked_pids(call_id: str) -> list[int]:
    """Every living process on the machine that carries the call's marker."""
    return [
        pid
        for pid in all_pids()
        if (facts := read_facts(pid)) is not None
        and not facts.has_ended
        and (read_variable(pid, MARKER_VARIABLE) or "").startswith(f"{call_id}.")
    ]


def sleepers(seconds: str) -> list[int]:
    """Processes `sleep SECONDS`, for those that cleaned their environment."""
    found = []
    for pid in all_pids():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(pid)
    return found


async def eventually(is_so: Callable[[], bool], limit_s: float = 5) -> None:
    for _ in range(int(limit_s / 0.02)):
        if is_so():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"not so within {limit_s} s")


@dataclass
class Shell:
    """Runs commands in a folder and remembers what was told of them."""

    folder: Path
    descendants: Descendants = field(default_factory=Descendants)
    started: list[ProcessRef] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    text: str = ""
    data: bytes = b""

    async def run(
        self,
        command: str,
        *,
        call_id: str = CALL,
        timeout_s: float | None = 20,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        path: Path | None = None,
        env: dict[str, str] | None = None,
        on_started: Callable[[], None] | None = None,
        confinement: Confinement = UNCONFINED,
    ) -> CommandResult:
        async def started(ref: ProcessRef) -> None:
            self.started.append(ref)
            if on_started is not None:
                on_started()

        with CommandOutput.open(path or self.folder / f"{call_id}.log", limit_bytes) as output:
            result = await run_command(
                command,
                ShellTerms(self.folder, dict(os.environ) if env is None else env, confinement),
                call_id=call_id,
                output=output,
                timeout_s=timeout_s,
                descendants=self.descendants,
                on_started=started,
                on_output=self.shown.append,
            )
            self.data = output.read(0, output.size_bytes)
            self.text = self.data.decode("utf-8", "replace")
            return result


__all__ = ["CALL", "Shell", "eventually", "marked_pids", "sleepers"]
