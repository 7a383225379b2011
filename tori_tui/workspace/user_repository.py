"""What tori reads of the user's own repository: ignored files that are tracked, and what is dirty.

Must not change a byte of it: no lock is taken, no index refreshed, no hook and no monitor run.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.workspace.shadow_git import paths_of

LOOK_LIMIT_S: Final = 20.0
"""A repository that takes longer to look at is treated as if it said nothing."""

_STATUS_LENGTH: Final = 3
"""Of `XY ` before each path of `git status --porcelain -z`."""


@dataclass(slots=True)
class UserRepository:
    """The git repository whose work tree tori works in; it says nothing where there is none."""

    root: Path
    git: str
    environ: Mapping[str, str]
    _seen_index: tuple[int, int] | None = field(default=None, init=False)
    _forced: tuple[str, ...] = field(default=(), init=False)

    @property
    def exclude_file(self) -> Path | None:
        """The repository's own list of ignored files, or None."""
        path = self.root / ".git" / "info" / "exclude"
        return path if path.is_file() else None

    def tracked_and_ignored(self) -> tuple[str, ...]:
        """Return the files that the user tracks although they are ignored; kept until his index changes."""
        index = self.root / ".git" / "index"
        try:
            status = index.stat()
        except OSError:
            return ()
        seen = (status.st_mtime_ns, status.st_size)
        if seen != self._seen_index:
            self._forced = tuple(paths_of(self._run("ls-files", "-z", "-ci", "--exclude-standard")))
            self._seen_index = seen
        return self._forced

    def dirty(self) -> tuple[str, ...]:
        """Return the tracked files that differ from the last commit, and single untracked ones."""
        if not (self.root / ".git").exists():
            return ()
        listing = self._run("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")
        paths = (entry[_STATUS_LENGTH:] for entry in paths_of(listing))
        return tuple(path for path in paths if path and not path.endswith("/"))

    def _run(self, *arguments: str) -> bytes:
        environment = {k: v for k, v in self.environ.items() if not k.startswith("GIT_")}
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
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


__all__ = ["UserRepository"]
