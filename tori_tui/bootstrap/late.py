"""The parts of a session that its first request does not need: loaded while that is under way.

Must not load them at the top, nor make them anew: one session has each once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from tori_tui.bootstrap.ground import Ground, Opened, RunnerParts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping
    from pathlib import Path

    from tori_tui.bootstrap.acting import Acting
    from tori_tui.config import SandboxSettings
    from tori_tui.config.surroundings import Surroundings
    from tori_tui.context.engine import ViewEngine
    from tori_tui.domain.events import CallStarted
    from tori_tui.runtime.branches.exploring import Exploring
    from tori_tui.runtime.calls import CallRunner
    from tori_tui.runtime.context_manager import ContextManager
    from tori_tui.runtime.ending import Ending
    from tori_tui.runtime.recorder import Recorder
    from tori_tui.runtime.rewinding import Rewinding
    from tori_tui.runtime.scope import Scopes
    from tori_tui.runtime.written_calls import WrittenCalls
    from tori_tui.tools.base import Tool
    from tori_tui.workspace.sandbox.confinement import Sandbox

BRANCHES: Final = "tori_tui.bootstrap.branches"
ACTING: Final = "tori_tui.bootstrap.acting"
CONTEXTS: Final = "tori_tui.bootstrap.contexts"
CONFINING: Final = "tori_tui.bootstrap.confining"
LEFT_OVER: Final = "tori_tui.bootstrap.left_over"


class ActingModule(Protocol):
    """What is asked of the module that is loaded late."""

    def make_acting(self, ground: Ground, parts: RunnerParts) -> Acting:
        """Make what acts on the replies of one session."""
        ...

    def make_rewinding(
        self, recorder: Recorder, opened: Opened, root: Path | None, world: Surroundings
    ) -> Rewinding:
        """Make what saves the tree of a session and goes back."""
        ...


class LeftOverModule(Protocol):
    """What is asked of the module that looks for what a kill left."""

    def stop_left_over(self, commands: Iterable[CallStarted]) -> Awaitable[bool]:
        """Stop what a killed session left running."""
        ...

    def is_restore_left(self, state_dir: Path, root: Path) -> bool:
        """Say whether a restore in a work tree has to be finished or recorded."""
        ...


class BranchesModule(Protocol):
    """What is asked of the module that explores."""

    def make_exploring(self, ground: Ground, parts: RunnerParts, acting: Acting) -> Exploring:
        """Make what runs the explore calls of one session."""
        ...


class ContextsModule(Protocol):
    """What is asked of the module that a second agent needs."""

    def make_contexts(self, ground: Ground) -> ContextManager:
        """Make the context manager of one session."""
        ...


class ConfiningModule(Protocol):
    """What is asked of the module that only a session with a sandbox needs."""

    def make_sandbox(self, settings: SandboxSettings, root: Path, environ: Mapping[str, str]) -> Sandbox:
        """Return a sandbox that works here, or refuse."""
        ...


def acting_module() -> ActingModule:
    """Return the module; the first call takes up to a tenth of a second."""
    return cast(ActingModule, import_module(ACTING))


def left_over_module() -> LeftOverModule:
    """Return the module that looks for what a kill left."""
    return cast(LeftOverModule, import_module(LEFT_OVER))


def branches_module() -> BranchesModule:
    """Return the module that explores."""
    return cast(BranchesModule, import_module(BRANCHES))


def confining_module() -> ConfiningModule:
    """Return the module that makes the sandbox."""
    return cast(ConfiningModule, import_module(CONFINING))


def contexts_module() -> ContextsModule:
    """Return the module that makes the context manager."""
    return cast(ContextsModule, import_module(CONTEXTS))


class LateParts:
    """Each part at its first use."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._acting: Acting | None = None
        self._loading: asyncio.Task[None] | None = None
        self.parts: RunnerParts | None = None
        """Set once they are made, before anything here is needed."""

    @property
    def is_loaded(self) -> bool:
        """Whether the code is there; the parts may still have to be made."""
        return ACTING in sys.modules

    def load(self) -> None:
        """Begin to load the code in a thread, once, and to save the tree then."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())

    def calls(self) -> CallRunner:
        """Return what runs the calls of a reply."""
        return self._made().calls

    async def bash(self) -> tuple[Tool, Scopes]:
        """Return the tool that runs commands, and what opens a scope for each."""
        await asyncio.to_thread(acting_module)
        acting = self._made()
        return acting.bash, acting.scopes

    def engine(self) -> ViewEngine:
        """Return what rewrites the view."""
        return self._made().engine

    def written(self) -> WrittenCalls:
        """Return what reads and writes calls as text."""
        return self._made().written

    def new_ending(self, has_words: Callable[[], bool]) -> Ending:
        """Return the judge of one run."""
        return self._made().new_ending(has_words)

    async def close(self) -> None:
        """Stop every process that still runs."""
        if self._loading is not None:
            await self._loading
        if self._acting is not None:
            await self._acting.close()

    async def _load(self) -> None:
        await asyncio.to_thread(acting_module)
        await self._ground.going_back.checkpointing.begin()

    def _made(self) -> Acting:
        if self._acting is None:
            assert self.parts is not None
            self._acting = acting_module().make_acting(self._ground, self.parts)
        return self._acting


__all__ = [
    "LateParts",
    "acting_module",
    "branches_module",
    "confining_module",
    "contexts_module",
    "left_over_module",
]
