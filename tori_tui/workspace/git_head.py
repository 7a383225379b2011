"""Branch and commit of a repository, read from its files: no process, a few microseconds.

Must not write anything, nor understand more of git than where HEAD stands.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

READ_LIMIT_BYTES: Final = 1_000_000
"""Of `packed-refs`; a repository with more refs than that shows no commit, only its branch."""


@dataclass(frozen=True, slots=True)
class GitHead:
    """Where HEAD stands; empty strings where there is none."""

    branch: str = ""
    commit: str = ""


def find_work_tree(cwd: Path) -> Path | None:
    """Return the root of the git work tree that holds a folder, or None."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    return None


def read_git_head(root: Path) -> GitHead:
    """Return branch and commit of the work tree at `root`."""
    try:
        git_dir = _git_dir(root)
        head = _read(git_dir / "HEAD").strip()
        if not head.startswith("ref: "):
            return GitHead("", head)
        ref = head.removeprefix("ref: ")
        return GitHead(ref.removeprefix("refs/heads/"), _commit_of(git_dir, ref))
    except OSError:
        return GitHead()


def _git_dir(root: Path) -> Path:
    """Follow the `.git` file of a linked work tree or a submodule."""
    dot_git = root / ".git"
    if dot_git.is_dir():
        return dot_git
    return root / _read(dot_git).strip().removeprefix("gitdir: ")


def _commit_of(git_dir: Path, ref: str) -> str:
    common = git_dir
    with suppress(OSError):
        common = git_dir / _read(git_dir / "commondir").strip()
    for folder in (git_dir, common):
        try:
            return _read(folder / ref).strip()
        except OSError:
            continue
    return _packed(common, ref)


def _packed(git_dir: Path, ref: str) -> str:
    try:
        lines = _read(git_dir / "packed-refs").splitlines()
    except OSError:
        return ""
    return next((line.split()[0] for line in lines if line.endswith(f" {ref}")), "")


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(READ_LIMIT_BYTES).decode("utf-8", "replace")


__all__ = ["GitHead", "find_work_tree", "read_git_head"]
