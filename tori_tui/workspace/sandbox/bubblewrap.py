"""The sandbox of bubblewrap: a view of the file system of its own, no network, no foreign process.

Must not be believed before it was tried once on this machine.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tori_tui.workspace.sandbox.confinement import Confinement, Place, SandboxRefused, SandboxTerms
from tori_tui.workspace.sandbox.control_files import ControlFiles
from tori_tui.workspace.sandbox.hidden import SOCKET_VARIABLES, hideable_paths
from tori_tui.workspace.sandbox.nested import NestedRepositories

PROBE_LIMIT_S: Final = 10.0

PRIVATE_TEMPORARY: Final = "/tmp"
EMPTIED: Final = (PRIVATE_TEMPORARY, "/var/tmp", "/run", "/var/run")
"""Folders of sockets and of other people's files; inside they are empty and the command's own."""

NEEDED_OF_RUN: Final = ("/run/systemd/resolve", "/run/resolvconf", "/run/current-system")
"""Names of hosts, where the network is on, and the programs of NixOS."""

ROOT_CAPABILITIES: Final = ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER")
"""What root needs in a tree that belongs to somebody else; nothing that mounts, traces or opens by handle."""


class Bubblewrap:
    """Runs each command in `bwrap`."""

    name: Final = "bubblewrap"

    def __init__(self, program: str, terms: SandboxTerms) -> None:
        self._program = program
        self._terms = terms
        self._control = ControlFiles(terms.root)
        self._nested = NestedRepositories(terms.root, terms.writable)
        self._unwanted: tuple[str, ...] = ()
        covered = tuple(f"{folder}/" for folder in EMPTIED)
        hideable = map(str, hideable_paths(terms))
        self._hideable = tuple(path for path in hideable if not path.startswith(covered))

    @property
    def holds(self) -> str:
        """What is kept from commands."""
        network = "network on" if self._terms.network else "no network"
        return (
            f"writes only in {_named(self._terms)}, there not in .git/hooks, .git/config, .tori, .trace, "
            f"nor in .git of repositories within{self._unseen()}; {network}; no foreign process; "
            "key files, /run and /tmp hidden. Not held: reading other files, CPU, memory, disk"
        )

    def confine(self, cwd: Path) -> Confinement:
        """Return how to start a command."""
        self._control.prepare()
        self._unwanted = self._control.missing_redirects()
        self._nested.look()
        return self.world(cwd)

    def world(self, cwd: Path) -> Confinement:
        """Return how to start a shell, now or ahead of its command."""
        options = [
            *self._system(),
            *self._tree(),
            *self._within(),
            *self._hidden(),
            *self._rights(),
            "--chdir",
            str(cwd),
            "--",
        ]
        return Confinement(
            (self._program, *options),
            environment=dict.fromkeys(SOCKET_VARIABLES, ""),
            places=tuple(_places(options)),
        )

    def mend(self) -> tuple[str, ...]:
        """Remove what would lead git to another configuration."""
        found = []
        for path in filter(os.path.lexists, self._unwanted):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
            found.append(
                f"removed {os.path.relpath(path, self._terms.root)}, which leads git to other settings"
            )
        return tuple(found)

    def close(self) -> None:
        """Nothing is left: each command's world goes with it."""

    def probe(self) -> str:
        """Try it once; return why it does not work, or nothing."""
        try:
            tried = subprocess.run(
                [*self.confine(self._terms.root).prefix, "true"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return tried.stderr.decode("utf-8", "replace").strip()[:300] if tried.returncode else ""

    def _system(self) -> list[str]:
        # Each further bind costs every command a quarter of a millisecond.
        options = ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        options += ["--proc", "/proc"]
        # Through it root would change the kernel's settings, without any capability.
        options += ["--remount-ro", "/proc"] if os.geteuid() == 0 else []
        options += [] if self._terms.network else ["--unshare-net"]
        for path in EMPTIED:
            if _holds_something(path):
                options += ["--tmpfs", path]
        for path in filter(os.path.isdir, NEEDED_OF_RUN):
            options += ["--ro-bind", path, path]
        return options

    def _tree(self) -> list[str]:
        git = self._control.git
        if os.path.islink(git):
            raise SandboxRefused(
                f"{git} is a link, which a command could turn.", "Work in the repository itself."
            )
        options: list[str] = []
        for folder in map(str, (self._terms.root, *self._terms.writable)):
            options += ["--bind", folder, folder]
        if os.path.isdir(git):
            # A place where something is mounted cannot be renamed, nor can another take its name.
            options += ["--bind", git, git]
        elif os.path.exists(git):
            options += ["--ro-bind", git, git]
        for path in self._control.read_only():
            options += ["--ro-bind", path, path]
        return options

    def _within(self) -> list[str]:
        """Keep repositories within as they are, and where they are: a place with a mount keeps its name."""
        options: list[str] = []
        pinned: set[str] = set()
        for git in self._nested.git_entries():
            for folder in self._nested.folders_above(git):
                options += ["--bind", folder, folder] if folder not in pinned else []
                pinned.add(folder)
            options += ["--ro-bind", git, git]
        return options

    def _unseen(self) -> str:
        return "" if self._nested.is_complete else " the first 10,000 folders"

    def _hidden(self) -> list[str]:
        options: list[str] = []
        for path in self._hideable:
            try:
                status = os.stat(path)
            except OSError:
                continue
            if not stat.S_ISDIR(status.st_mode):
                options += ["--ro-bind", os.devnull, path]
            elif not _is_empty(path):
                options += ["--tmpfs", path]
        return options

    def _rights(self) -> list[str]:
        options = ["--cap-drop", "ALL"]
        if os.geteuid() == 0:
            options += [part for name in ROOT_CAPABILITIES for part in ("--cap-add", name)]
        return options


def find_bubblewrap(terms: SandboxTerms) -> str | None:
    """Return the program, never one that lies in the work tree."""
    found = shutil.which("bwrap", path=terms.environ.get("PATH"))
    if found is None or not found.startswith("/"):
        return None
    return None if Path(found).resolve().is_relative_to(terms.root) else found


def _holds_something(folder: str) -> bool:
    """Say whether a folder is there, is no link, and is worth a mount: an empty one hides nothing."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    return folder == PRIVATE_TEMPORARY or not _is_empty(folder)


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _places(options: Sequence[str]) -> Iterator[Place]:
    """Yield what an option list mounts on, in its order."""
    for n, option in enumerate(options):
        match option:
            case "--ro-bind" if options[n + 1] == os.devnull:
                yield Place(options[n + 2], "no content")
            case "--ro-bind":
                yield Place(options[n + 2], "itself, read-only")
            case "--bind":
                yield Place(options[n + 2], "itself")
            case "--tmpfs":
                yield Place(options[n + 1], "an empty folder")


def _named(terms: SandboxTerms) -> str:
    return ", ".join(map(str, (terms.root, *terms.writable)))


__all__ = ["Bubblewrap", "find_bubblewrap"]
