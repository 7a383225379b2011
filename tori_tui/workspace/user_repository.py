"""What tori reads of the user's own repository: ignored files that are tracked, and what is dirty.

Must not change a byte of it: no lock is taken, no index refreshed, no program that it names is run.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tori_tui.workspace.shadow_git import paths_of

LOOK_LIMIT_S: Final = 20.0
"""A repository that takes longer to look at is treated as if it said nothing."""

NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})

_STATUS_LENGTH: Final = 3
"""Of `XY ` before each path of `git status --porcelain -z`."""


@dataclass(slots=True)
class UserRepository:
    """The git repository whose work tree tori works in; it says nothing where there is none."""

    root: Path
    git: str
    environ: Mapping[str, str]
    _seen: tuple[tuple[int, int] | None, ...] = field(default=(), init=False)
    _forced: tuple[str, ...] = field(default=(), init=False)

    @property
    def exclude_file(self) -> Path | None:
        """The repository's own list of ignored files, or None."""
        path = self.root / ".git" / "info" / "exclude"
        return path if path.is_file() else None

    def tracked_and_ignored(self) -> tuple[str, ...]:
        """Return the files that the user tracks although they are ignored; kept until his index changes."""
        seen = self._facts()
        if seen != self._seen:
            has_index = seen[0] is not None
            listing = self._run("ls-files", "-z", "-ci", "--exclude-standard") if has_index else b""
            self._forced = tuple(paths_of(listing))
            self._seen = seen
        return self._forced

    def is_as_seen(self) -> bool:
        """Say whether index and ignore list are as `tracked_and_ignored` found them last."""
        return self._facts() == self._seen

    def dirty(self) -> tuple[str, ...]:
        """Return the tracked files that differ from the last commit, and single untracked ones."""
        if not (self.root / ".git").exists():
            return ()
        listing = self._run(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"),
            settings=self._without_own_filters(),
        )
        paths = (entry[_STATUS_LENGTH:] for entry in paths_of(listing))
        return tuple(path for path in paths if path and not path.endswith("/"))

    def _without_own_filters(self) -> dict[str, str]:
        """Return the settings that turn off the programs by which the repository itself filters contents."""
        listing = self._run("config", "--local", "--includes", "--null", "--name-only", "--list")
        names = [name for name in paths_of(listing) if name.lower().startswith("filter.")]
        return {name: "false" if name.lower().endswith(".required") else "" for name in names}

    def _facts(self) -> tuple[tuple[int, int] | None, ...]:
        folder = self.root / ".git"
        return tuple(_changed(path) for path in (folder / "index", folder / "info" / "exclude"))

    def _run(self, *arguments: str, settings: Mapping[str, str] = NO_SETTINGS) -> bytes:
        environment = {k: v for k, v in self.environ.items() if not k.startswith("GIT_")}
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        # Not by `-c`, where an equals sign in a name would end it.
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (name, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        try:
            done = subprocess.run(
                [self.git, "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", *arguments],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=LOOK_LIMIT_S,
                process_group=0,
            )
        except (OSError, subprocess.TimeoutExpired):
            return b""
        return done.stdout if done.returncode == 0 else b""


def _changed(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size)


__all__ = ["UserRepository"]
