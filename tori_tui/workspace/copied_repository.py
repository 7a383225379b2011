"""A repository of its own for a copy of a work tree: the user's history to read, nothing of his to write.

Must not write into the user's repository: his objects are borrowed, refs and index are copied. Remotes are
left out, so that nothing can be pushed from a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from tori_tui.workspace.user_repository import LOOK_LIMIT_S

COPIED_FILES: Final = ("HEAD", "index", "ORIG_HEAD")
SHARED_FILES: Final = ("packed-refs", "shallow")
"""These lie with all work trees of a repository."""

COPIED_SECTIONS: Final = (
    *("core", "user", "author", "committer", "extensions", "init", "merge", "diff", "filter", "i18n"),
    *("commit", "format", "log", "pull", "rebase", "apply", "color", "column", "grep", "blame"),
)
"""Of the user's configuration; others name places outside (remotes, worktrees, includes)."""

LEFT_OUT_KEYS: Final = frozenset(
    {
        "core.worktree",
        "core.bare",
        "core.fsmonitor",
        "core.untrackedcache",
        "core.hookspath",
        "core.sshcommand",
        "extensions.worktreeconfig",
        "extensions.relativeworktrees",
        "extensions.partialclone",
    }
)


def copy_repository(
    root: Path, copy: Path, git: str, environ: Mapping[str, str], excluded: Sequence[str] = ()
) -> bool:
    """Give a copied tree a repository that begins as the original's stands.

    Args:
        root: The user's work tree.
        copy: The copied one; its `.git` is made.
        git: The program, to read the configuration.
        environ: The user's environment.
        excluded: Patterns that its `git status` leaves out beside the user's own.

    Returns:
        Whether there is one; False where the tree is under no version control.
    """
    git_dir = _git_dir(root)
    if git_dir is None:
        return False
    common = _common_dir(git_dir)
    target = copy / ".git"
    for folder in ("objects/info", "refs", "info"):
        (target / folder).mkdir(parents=True, exist_ok=True)
    (target / "objects" / "info" / "alternates").write_bytes(os.fsencode(common / "objects") + b"\n")
    for name, source in (*((n, git_dir) for n in COPIED_FILES), *((n, common) for n in SHARED_FILES)):
        with suppress(OSError):  # it has none
            shutil.copyfile(source / name, target / name)
    for name in ("refs/heads", "refs/tags", "refs/remotes"):
        with suppress(OSError):
            shutil.copytree(common / name, target / name, dirs_exist_ok=True)
    with suppress(OSError):
        shutil.copyfile(common / "info" / "attributes", target / "info" / "attributes")
    _write_excludes(common / "info" / "exclude", target / "info" / "exclude", excluded)
    (target / "config").write_bytes(_config(root, git, environ))
    return True


def _git_dir(root: Path) -> Path | None:
    dot_git = root / ".git"
    try:
        if dot_git.is_dir():
            return dot_git
        text = dot_git.read_bytes()
    except OSError:
        return None
    if not text.startswith(b"gitdir: "):
        return None
    found = root / os.fsdecode(text.removeprefix(b"gitdir: ").strip())
    return Path(os.path.realpath(found)) if found.is_dir() else None


def _common_dir(git_dir: Path) -> Path:
    """Return where a linked work tree's repository really lies."""
    with suppress(OSError):
        shared = os.fsdecode((git_dir / "commondir").read_bytes().strip())
        return Path(os.path.realpath(git_dir / shared))
    return Path(os.path.realpath(git_dir))


def _write_excludes(source: Path, target: Path, excluded: Sequence[str]) -> None:
    own = b""
    with suppress(OSError):
        own = source.read_bytes()
    lines = "".join(f"{pattern}\n" for pattern in excluded)
    target.write_bytes(own + (b"\n" if own and not own.endswith(b"\n") else b"") + os.fsencode(lines))


def _config(root: Path, git: str, environ: Mapping[str, str]) -> bytes:
    lines = ["[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = /dev/null\n"]
    for key, value in _settings(root, git, environ):
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        if section not in COPIED_SECTIONS or key.lower() in LEFT_OUT_KEYS:
            continue
        head = f'[{section} "{_escaped(subsection)}"]' if subsection else f"[{section}]"
        lines.append(f'{head}\n\t{name} = "{_escaped(value)}"\n')
    return os.fsencode("".join(lines))


def _settings(root: Path, git: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of the user's own repository; none where they cannot be read."""
    environment = {k: v for k, v in environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            [git, "config", "--local", "--null", "--list"],
            cwd=root,
            env=environment | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LOOK_LIMIT_S,
            process_group=0,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for entry in filter(None, done.stdout.split(b"\0")):
        key, has_value, value = os.fsdecode(entry).partition("\n")
        yield key, value if has_value else "true"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


__all__ = ["copy_repository"]
