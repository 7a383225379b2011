"""How much disk the checkpoints of all work trees take, and making room: the oldest sessions' first.

Must not drop what the present session saved.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.workspace.shadow_git import CHECKPOINTS_NAME, REFS, ROOT_NAME, GitFailed, ShadowGit, ref_part

CAP_BYTES: Final = 2 << 30
"""Of all work trees together: a few large sessions' worth, little beside today's disks."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """The checkpoints of one session."""

    changed_ns: int
    directory: Path
    name: str


def disk_use_bytes(state_dir: Path) -> int:
    """Return what all checkpoints take."""
    total = 0
    for place, _, files in os.walk(state_dir / CHECKPOINTS_NAME):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
    return total


def make_room(
    state_dir: Path, git: str, environ: Mapping[str, str], keep: str, cap_bytes: int = CAP_BYTES
) -> tuple[str, ...]:
    """Drop checkpoints of the oldest sessions until all fit under the cap; returns whose were dropped.

    Args:
        state_dir: `$XDG_STATE_HOME/tori`.
        git: The git program.
        environ: The environment.
        keep: The session whose checkpoints stay whatever they take.
        cap_bytes: The most that all may take.
    """
    dropped: list[str] = []
    if disk_use_bytes(state_dir) <= cap_bytes:
        return ()
    for owner in sorted(_owners(state_dir), key=lambda owner: owner.changed_ns):
        if owner.name == ref_part(keep):
            continue
        try:
            _drop(owner, git, environ)
        except (GitFailed, OSError):
            continue
        dropped.append(owner.name)
        if disk_use_bytes(state_dir) <= cap_bytes:
            break
    return tuple(dropped)


def _owners(state_dir: Path) -> list[_Owner]:
    found: list[_Owner] = []
    for directory in (state_dir / CHECKPOINTS_NAME).glob("*"):
        for refs in (directory / REFS).glob("*"):
            found.append(_Owner(refs.stat().st_mtime_ns, directory, refs.name))
    return found


def _drop(owner: _Owner, git: str, environ: Mapping[str, str]) -> None:
    root = Path((owner.directory / ROOT_NAME).read_text(errors="surrogateescape").removesuffix("\n"))
    # The work tree may be gone; git needs some folder to stand in.
    shadow = ShadowGit(owner.directory, root if root.is_dir() else owner.directory, git, environ)
    with shadow.locked():
        refs = owner.directory / REFS
        shutil.rmtree(refs / owner.name)
        if not any(refs.iterdir()):
            # Nothing is left to go back to: the stat cache is not worth its disk either.
            (owner.directory / "index").unlink(missing_ok=True)
        shadow.run("repack", "-a", "-d", "-q")
        shadow.run("prune", "--expire=now")


__all__ = ["CAP_BYTES", "disk_use_bytes", "make_room"]
