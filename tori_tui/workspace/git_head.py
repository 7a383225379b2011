"""Branch and commit of a repository, read from its files: no process, a few microseconds.

Must not write anything, nor understand more of git than where HEAD stands and where it came from.
"""

from __future__ import annotations

import errno
import os
import stat
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
    except (OSError, ValueError):  # a path with a NUL, in a file that nobody wrote for git
        return GitHead()


def read_git_origin(root: Path) -> str:
    """Return where the repository comes from, as `HOST/PATH` however it is reached; empty where none is."""
    try:
        config = _read(_common_dir(_git_dir(root)) / "config")
    except (OSError, ValueError):
        return ""
    section = ""
    for line in config.splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        if key.startswith("["):
            section = key
        elif section == '[remote "origin"]' and key == "url":
            return _plain_address(value.strip('"'))
    return ""


def _plain_address(url: str) -> str:
    """Return the same for `https://me:key@host/a/b.git` and `git@host:a/b`."""
    rest = url.partition("://")[2] or url.replace(":", "/", 1)
    host, _, path = rest.partition("/")
    return f"{host.rpartition('@')[2].lower()}/{path.strip('/').removesuffix('.git')}"


def _git_dir(root: Path) -> Path:
    """Follow the `.git` file of a linked work tree or a submodule."""
    dot_git = root / ".git"
    if dot_git.is_dir():
        return dot_git
    return root / _read(dot_git).strip().removeprefix("gitdir: ")


def _common_dir(git_dir: Path) -> Path:
    """Return what the linked work trees of a repository share."""
    with suppress(OSError):
        return git_dir / _read(git_dir / "commondir").strip()
    return git_dir


def _commit_of(git_dir: Path, ref: str) -> str:
    common = _common_dir(git_dir)
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
    # What stands there may be a pipe, which nobody ever writes to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return file.read(READ_LIMIT_BYTES).decode("utf-8", "replace")


__all__ = ["GitHead", "find_work_tree", "read_git_head", "read_git_origin"]
