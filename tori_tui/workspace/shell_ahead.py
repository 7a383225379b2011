"""Keeps one shell ready in the world of a sandbox, so that the next command need not wait for its making.

Must not hand out one that stands in another world than the command would get now.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.command_output import CommandOutput, open_nameless
from tori_tui.workspace.descendants import CommandTree, Descendants
from tori_tui.workspace.process_table import walk_below
from tori_tui.workspace.sandbox.confinement import Sandbox
from tori_tui.workspace.sandbox.places import MountWatch, stands_as_told
from tori_tui.workspace.stopping import GRACE_S, stop_processes
from tori_tui.workspace.waiting_shell import ShellTerms, WaitingShell, start_waiting_shell

AFTER_S: Final = 0.05
"""After a command: its result is on its way to the model by then, whose reply takes longer."""

UNUSED_LIMIT_S: Final = 60.0
"""Longer than most replies take. What is mounted inside is in use meanwhile, so none waits for a user."""

SHELL: Final = "sh"
"""Name of the process in the world; until then it is bubblewrap itself that mounts."""

WAITING: Final = "waiting"
"""Marks a shell that belongs to no call."""


@dataclass(frozen=True, slots=True)
class _Ready:
    shell: WaitingShell
    tree: CommandTree
    terms: ShellTerms
    watch: MountWatch
    output: int


class ShellAhead:
    """One shell for the next command of one session; nothing stands ready before the first has run.

    Args:
        sandbox: In whose world it waits.
        descendants: Is told of its processes, which are no command's.
    """

    def __init__(self, sandbox: Sandbox, descendants: Descendants) -> None:
        self._sandbox = sandbox
        self._descendants = descendants
        self._ready: _Ready | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def take(self, terms: ShellTerms, output: CommandOutput) -> WaitingShell | None:
        """Return the shell that waits, if a new one would be just the same; it is the caller's then.

        Args:
            terms: Of the command, its confinement as the sandbox gives it at this moment.
            output: Gets what the command prints: becomes the file that the shell has open.
        """
        self._stop_timer()
        ready, self._ready = self._ready, None
        if ready is None:
            return None
        is_same = (
            ready.terms == terms
            and ready.shell.process.poll() is None
            and not ready.watch.has_changed()
            and _stands(ready)
        )
        if is_same and output.take_over(ready.output):
            ready.watch.close()
            self._descendants.leave(ready.tree)
            return ready.shell
        self._end(ready)
        return None

    def make_soon(self, terms: ShellTerms, output: CommandOutput) -> None:
        """Have one made in a moment, for a command like the last one.

        Args:
            terms: Of that.
            output: What it printed into; the next file comes beside it.
        """
        if output.path is not None and not self._is_closed:
            self._stop_timer()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(AFTER_S, self._make, terms, output.path.parent)

    async def close(self) -> None:
        """End the one that waits; none is made any more."""
        self._is_closed = True
        self._end_unused()
        if self._ending:
            await asyncio.wait(self._ending)

    def _make(self, terms: ShellTerms, folder: Path) -> None:
        """Make one; where it cannot be had, the next command gets its own, and tells what is wrong."""
        if self._ready is not None or self._is_closed:
            return
        with suppress(OSError, ToriError), ExitStack() as undone:
            watch = MountWatch()
            undone.callback(watch.close)
            confinement = self._sandbox.world(terms.cwd)
            if confinement is None:
                return
            output = open_nameless(folder)
            undone.callback(os.close, output)
            terms = replace(terms, confinement=confinement)
            shell = start_waiting_shell(terms, WAITING, output)
            tree = self._descendants.enter(shell.process.pid, WAITING, is_waiting=True)
            self._ready = _Ready(shell, tree, terms, watch, output)
            undone.pop_all()
            self._timer = asyncio.get_running_loop().call_later(UNUSED_LIMIT_S, self._end_unused)

    def _end_unused(self) -> None:
        self._stop_timer()
        ready, self._ready = self._ready, None
        if ready is not None:
            self._end(ready)

    def _end(self, ready: _Ready) -> None:
        ready.watch.close()
        os.close(ready.output)
        ready.shell.close()
        task = asyncio.get_running_loop().create_task(self._see_end(ready))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _see_end(self, ready: _Ready) -> None:
        try:
            # It has no work to save: TERM may come before it sees that its pipe is closed.
            await stop_processes(lambda: self._descendants.living(ready.tree), GRACE_S)
        finally:
            ready.shell.process.poll()
            self._descendants.leave(ready.tree)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _stands(ready: _Ready) -> bool:
    """Say whether the shell is past the making of its world, and that world is still as it would be made."""
    inner = [facts for facts in walk_below(ready.shell.process.pid) if facts.name == SHELL]
    confinement, cwd = ready.terms.confinement, str(ready.terms.cwd)
    return len(inner) == 1 and stands_as_told(inner[0].pid, confinement.places, cwd)


__all__ = ["WAITING", "ShellAhead"]
