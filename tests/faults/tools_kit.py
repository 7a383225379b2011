"""The tools as the executor calls them, over a tree of the test's own."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.fakes.scope import FakeScope
from tests.tools.file_bench import FileBench
from tests.workspace.processes_kit import marked_pids
from tori_tui.domain.ids import CallId
from tori_tui.tools.base import ToolOutput
from tori_tui.tools.bash import Bash
from tori_tui.tools.bash_output import BashOutput
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.paths import Workspace


def bench_in(folder: Path, **files: bytes) -> FileBench:
    """File tools over a new folder; a file for each name, with `_` before the ending for its dot."""
    root = folder / "tree"
    root.mkdir()
    for name, data in files.items():
        (root / ".".join(name.rsplit("_", 1))).write_bytes(data)
    return FileBench(root)


def names_in(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if ".trace" not in path.parts}


def with_room_for(limit_bytes: int, bench: FileBench, calls: Sequence[tuple[str, ...]]) -> list[ToolOutput]:
    """Call tools in a process that may write only so many bytes to a file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        return [getattr(bench, name)(*arguments) for name, *arguments in calls]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


class ShellBench:
    """The tools of the shell, called as the executor would."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.root.mkdir()
        self.outputs = Outputs(folder / "outputs")
        self.jobs = Jobs(Descendants())
        self.scope = FakeScope(CallId(f"call_{os.getpid()}_{id(self)}"))
        self.tool = Bash(Workspace(self.root), self.jobs, self.outputs, base_environment=dict(os.environ))
        self.reader = BashOutput(self.jobs)

    async def run(self, command: str, **more: object) -> ToolOutput:
        return await self.tool.run({"command": command, **more}, self.scope)

    async def read(self, **arguments: object) -> ToolOutput:
        return await self.reader.run(arguments, self.scope)

    @property
    def living(self) -> list[int]:
        """What still runs of anything that was started here."""
        return marked_pids(self.scope.call_id)


@asynccontextmanager
async def shell_in(folder: Path) -> AsyncIterator[ShellBench]:
    """A shell of which nothing may be left over: no process and no reader."""
    bench = ShellBench(folder)
    yield bench
    await bench.jobs.close()
    assert bench.living == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


__all__ = ["ShellBench", "bench_in", "names_in", "shell_in", "with_room_for"]
