"""How one command is confined: what a backend hands to whoever starts processes.

Must not promise what a backend does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

from tori_tui.domain.errors import UsageError


class SandboxRefused(UsageError):
    """No sandbox can be had here; nothing may run without the one that was asked for."""


@dataclass(frozen=True, slots=True)
class SandboxTerms:
    """What a sandbox is made for."""

    root: Path
    """The work tree, absolute, links resolved: the only place that may be written."""
    environ: Mapping[str, str]
    """The user's; names the home and the sockets that are hidden."""
    network: bool = False
    """Whether commands may use it."""
    writable: tuple[Path, ...] = ()
    """Further folders that may be written, absolute."""

    @property
    def home(self) -> Path:
        """The user's home."""
        home = self.environ.get("HOME", "")
        return Path(home) if home.startswith("/") else Path.home()


@dataclass(frozen=True, slots=True)
class Place:
    """Something on which a world mounts."""

    path: str
    """Absolute; its last part may be a link."""
    shows: Literal["itself", "itself, read-only", "no content", "an empty folder"]
    """What a command finds there."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """How to start one command."""

    prefix: tuple[str, ...] = ()
    """The program, with its options, that runs the command inside."""
    confine_thread: Callable[[], None] | None = None
    """Confines the thread that calls it, and every process that the thread starts."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are other inside; an empty value takes one away."""
    places: tuple[Place, ...] = ()
    """All on which the world inside mounts."""


class Sandbox(Protocol):
    """A backend that was tried and works here."""

    @property
    def name(self) -> str:
        """For the status line: `bubblewrap`."""
        ...

    @property
    def holds(self) -> str:
        """Exactly what it keeps commands from, and what not; one line."""
        ...

    def confine(self, cwd: Path) -> Confinement:
        """Return how to start a command that runs in a folder.

        Raises:
            SandboxRefused: It cannot be held any more.
        """
        ...

    def world(self, cwd: Path) -> Confinement | None:
        """Return how a shell is started before its command is known; None where that saves no time.

        Changes nothing: a command may be running.

        Raises:
            SandboxRefused: It cannot be held any more.
        """
        ...

    def mend(self) -> tuple[str, ...]:
        """Take back what a command did that the backend cannot forbid; say what it was."""
        ...

    def close(self) -> None:
        """Leave nothing behind."""
        ...


UNCONFINED: Final = Confinement()

__all__ = ["UNCONFINED", "Confinement", "Place", "Sandbox", "SandboxRefused", "SandboxTerms"]
