"""The sandbox of Landlock: the kernel refuses files and TCP to the process itself, without another program.

Must not claim more than its rules can say: they allow whole folders and cannot take a part out again.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tori_tui.workspace.sandbox import landlock_kernel as kernel
from tori_tui.workspace.sandbox.confinement import Confinement, SandboxRefused, SandboxTerms
from tori_tui.workspace.sandbox.control_files import ControlFiles, Facts
from tori_tui.workspace.sandbox.hidden import SOCKET_VARIABLES, hidden_paths
from tori_tui.workspace.sandbox.nested import NestedRepositories

DEVICES: Final = tuple(
    map(Path, ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"))
)

NOT_READ: Final = tuple(map(Path, ("/tmp", "/var/tmp", "/run", "/var/run")))
"""As little of these is seen as inside bubblewrap, the private folder for temporary files aside."""


NAMED_LIMIT: Final = 5


class Landlock:
    """Confines each command by one ruleset, made once."""

    name: Final = "Landlock"

    def __init__(self, terms: SandboxTerms, version: int) -> None:
        self._terms = terms
        self._version = version
        self._temporary: Path | None = None
        self._ruleset = -1
        self._control = ControlFiles(terms.root)
        self._nested = NestedRepositories(terms.root, terms.writable)
        self._seen: Facts | None = None

    @property
    def holds(self) -> str:
        """What is kept from commands."""
        network = "network on" if self._terms.network else "no TCP"
        signals = "signals to other processes"
        has_scope = self._version >= kernel.SCOPE_ABI
        root = ", ".join(map(str, (self._terms.root, *self._terms.writable)))
        return (
            f"writes only in {root}; {network}{f'; no {signals}' if has_scope else ''}; "
            "key files, /run, /tmp not readable. Not held: .git/hooks, .git/config, .tori, .trace, modes and "
            "owners of files, UDP, Unix sockets (docker, agents), reading other files"
            f"{'' if has_scope else f', {signals}'}"
        )

    def confine(self, cwd: Path) -> Confinement:
        """Return how to start a command; the first one makes the ruleset."""
        if self._ruleset < 0 or self._temporary is None:
            try:
                self._ruleset, self._temporary = self._made()
            except OSError as error:
                raise SandboxRefused(f"Landlock does not hold any more: {error.strerror}.") from error
        if self._seen is None:
            self._seen = self._facts()
        ruleset = self._ruleset
        environment = {**dict.fromkeys(SOCKET_VARIABLES, ""), "TMPDIR": str(self._temporary)}
        return Confinement(confine_thread=lambda: kernel.restrict_self(ruleset), environment=environment)

    def world(self, cwd: Path) -> Confinement | None:
        """Return nothing: a thread is confined in a moment."""
        return None

    def mend(self) -> tuple[str, ...]:
        """Change nothing: it may have been the user. Say what a command may have done to him."""
        before, self._seen = self._seen, self._facts()
        changed = sorted({path for path, _ in (before or {}).items() ^ self._seen.items()})
        names = ", ".join(os.path.relpath(path, self._terms.root) for path in changed[:NAMED_LIMIT])
        return (f"cannot keep commands from {names}: changed since the last one",) if changed else ()

    def _facts(self) -> Facts:
        self._nested.look()
        return self._control.facts(self._nested.git_entries())

    def close(self) -> None:
        """Remove the private folder for temporary files."""
        if self._ruleset >= 0:
            os.close(self._ruleset)
            self._ruleset = -1
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _made(self) -> tuple[int, Path]:
        temporary = Path(tempfile.mkdtemp(prefix="tori-"))
        ruleset = -1
        try:
            ruleset = kernel.make_ruleset(self._version, cuts_network=not self._terms.network)
            rights = kernel.all_rights(self._version)
            kernel.allow(ruleset, (self._terms.root, temporary, *self._terms.writable), rights)
            kernel.allow(ruleset, DEVICES, rights)
            # Names of files may be listed everywhere; what is in them may not be read everywhere.
            kernel.allow(ruleset, (Path("/"),), kernel.READ_DIR)
            hidden = (*hidden_paths(self._terms), *NOT_READ)
            kernel.allow(ruleset, readable_around(Path("/"), hidden), kernel.READING)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            if ruleset >= 0:
                os.close(ruleset)
            raise
        return ruleset, temporary


def readable_around(top: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """Yield paths that together are everything below a folder but the hidden ones."""
    if top in hidden:
        return
    if not any(path.is_relative_to(top) for path in hidden):
        yield top
        return
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            # What it leads to is allowed where it lies.
            continue
        yield from readable_around(path, hidden)


def make_landlock(terms: SandboxTerms) -> Landlock:
    """Return the backend.

    Raises:
        SandboxRefused: The kernel cannot hold what was asked for.
    """
    version = kernel.abi()
    if version == 0:
        raise SandboxRefused("the kernel has no Landlock")
    if version < kernel.TCP_ABI and not terms.network:
        raise SandboxRefused(f"the kernel's Landlock (ABI {version}) cannot cut the network")
    sandbox = Landlock(terms, version)
    sandbox.confine(terms.root)
    sandbox.close()
    return sandbox


__all__ = ["Landlock", "make_landlock", "readable_around"]
