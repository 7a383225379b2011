"""Which programs a repository's own settings and hooks have git run, even for a command that only reads.

Must not run git, nor judge the user's global settings, which are his own.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

READ_LIMIT_BYTES: Final = 1_000_000
INDEX_LIMIT_BYTES: Final = 50_000_000
FOLDERS_LIMIT: Final = 2_000
"""Of those that are looked through for repositories in the repository."""

CONFIG_NAMES: Final = ("config", "config.worktree")

READING_HOOK: Final = "post-index-change"
"""The only hook that reading commands run: `git status` writes down what it has seen."""

GITLINK_MODE: Final = b"\0\0\xe0\0"
"""Of a nested repository, as the index has it."""

_KEYS: Final = "fsmonitor|hookspath|external|textconv|clean|smudge|process|program|command|path"
_FETCH_KEYS: Final = "sshcommand|gitproxy|askpass|helper|uploadpack|allow"
_VALUE: Final = r"[ \t]*=[ \t]*(?P<value>[^\n]*)"
_SETTING: Final = re.compile(rf"(?:^|\])[ \t]*(?P<key>{_KEYS}){_VALUE}", re.I | re.M)
_FETCH_SETTING: Final = re.compile(rf"(?:^|\])[ \t]*(?P<key>{_FETCH_KEYS}){_VALUE}", re.I | re.M)
_PARTIAL_CLONE: Final = re.compile(r"promisor|partialclone", re.I)
"""Of such a repository a reading command fetches what is missing."""
_PLAIN_VALUE: Final = re.compile(r"\"?(?:true|false|yes|no|on|off|1|0|)\"?\s*(?:[#;].*)?", re.I)


def why_git_runs_programs(folder: Path) -> str:
    """Return why git would run a program that the repository names, in a folder; empty where it would not."""
    for place in (folder, *folder.parents):
        git_dir = _git_dir(place)
        if git_dir is not None:
            found = (_why(repository) for repository in (git_dir, *_nested(place, git_dir)))
            return next(filter(None, found), "")
    return ""


def _why(git_dir: Path) -> str:
    common = _common_dir(git_dir)
    for config in dict.fromkeys((*(git_dir / name for name in CONFIG_NAMES), common / "config")):
        text = _read(config)
        if text is None:
            return f"{config} cannot be read"
        fetching = _FETCH_SETTING.finditer(text) if _PARTIAL_CLONE.search(text) else ()
        for found in (*_SETTING.finditer(text), *fetching):
            key, value = found["key"].lower(), found["value"].strip()
            if _PLAIN_VALUE.fullmatch(value) or (key == "hookspath" and not _has_hook(git_dir, value)):
                continue
            return f"{config} has git run a program or read settings elsewhere ({key} = {value[:80]})"
    hook = common / "hooks" / READING_HOOK
    return f"git would run {hook}" if os.access(hook, os.X_OK) else ""


def _has_hook(git_dir: Path, folder: str) -> bool:
    # A relative one counts from the work tree.
    return os.access(git_dir.parent / os.path.expanduser(folder.strip('"')) / READING_HOOK, os.X_OK)


def _git_dir(place: Path) -> Path | None:
    """Follow the `.git` file of a linked work tree or a submodule."""
    dot_git = place / ".git"
    if dot_git.is_dir():
        return dot_git
    text = (_read(dot_git) or "").strip()
    return place / text.removeprefix("gitdir: ") if text.startswith("gitdir: ") else None


def _common_dir(git_dir: Path) -> Path:
    text = (_read(git_dir / "commondir") or "").strip()
    return git_dir / text if text else git_dir


def _nested(root: Path, git_dir: Path) -> Iterator[Path]:
    """Yield the folders of repositories within, where the index says that there are some."""
    index = git_dir / "index"
    try:
        if index.stat().st_size < INDEX_LIMIT_BYTES and GITLINK_MODE not in index.read_bytes():
            return
    except OSError:
        return
    for top, folders, names in islice(os.walk(root), FOLDERS_LIMIT):
        found = _git_dir(Path(top)) if ".git" in (*folders, *names) else None
        if found is not None and found != git_dir:
            yield found
        folders[:] = [name for name in folders if name != ".git"]


def _read(path: Path) -> str | None:
    """Return what a plain file holds, nothing of one that is not there; None of any other."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or path.stat().st_size > READ_LIMIT_BYTES:
            return None
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return None


__all__ = ["why_git_runs_programs"]
