"""Whether a command that reads by its words would run a program of the work tree's on this disk.

Must not start anything; the policy judges what is found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from tori_tui.permission.command_class import CommandClass
from tori_tui.permission.protected_paths import words
from tori_tui.workspace.git_programs import why_git_runs_programs
from tori_tui.workspace.programs import is_within

HELPERS: Final = words(
    "sh bash env sed awk grep cat gzip bzip2 xz zstd lzma lzip compress perl node basename dirname uname tr "
    "cut sort expr git gpg ssh"
)
"""Programs that reading ones start by their names: `tar tf` the unpackers, `git` a shell, `npm ls` node."""

READ_FILES: Final = words(
    "BASH_ENV GIT_EXEC_PATH GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_DIR RIPGREP_CONFIG_PATH"
)
LOADED: Final = READ_FILES | words("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GIT_EXTERNAL_DIFF")
"""Variables of the user's that name what every command, or a reading one, loads or runs. Without a slash only
those of files mean one where the command runs; the others are looked for in the system."""

LIBRARY_FOLDERS: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

_LIBRARY: Final = re.compile(r"\.(?:so|dylib)\b")


def why_not_free(found: CommandClass, root: Path, cwd: Path, environ: Mapping[str, str]) -> str:
    """Return why a reading command, or one in it, may run what lies in the work tree; empty if it does not.

    Args:
        found: What its words say.
        root: The work tree.
        cwd: Where it runs.
        environ: What it is started with.
    """
    if all(one.reason for one in found.commands):
        return ""
    places = (cwd, *(cwd / path for path in found.paths if os.path.isdir(cwd / path)))
    reasons = (
        _of_the_path(found, root, places, environ.get("PATH", os.defpath)),
        _of_the_loader(root, places, environ),
        *(why_git_runs_programs(Path(os.path.realpath(cwd / folder))) for folder in found.git_folders),
    )
    return next(filter(None, reasons), "")


def _of_the_path(found: CommandClass, root: Path, places: Iterable[Path], path: str) -> str:
    """Look where the names of programs lead, as the shell does, from each folder where one may stand."""
    entries = path.split(os.pathsep)
    of_the_tree = [entry for entry in entries if _is_of_the_tree(entry, root)]
    if not of_the_tree:
        return ""
    reading = (one for one in found.commands if not one.reason)
    names = {form[0] for one in reading for form in one.forms if form} | HELPERS
    for place in places:
        for name in sorted(names.intersection(_names_in(place / entry for entry in of_the_tree))):
            program = _first(os.path.join(place, entry, name) for entry in entries)
            if program and is_within(program, root) and not _is_the_systems_own(program, name, root):
                return f"{name} would be {program}, a file of the work tree"
    return ""


def _of_the_loader(root: Path, places: Iterable[Path], environ: Mapping[str, str]) -> str:
    for name in sorted(LOADED & environ.keys()):
        parts = [
            part for part in re.split("[: ]", environ[name]) if "/" in part or (part and name in READ_FILES)
        ]
        if any(_is_of_the_tree(part, root) for part in parts):
            return f"{name} leads into the work tree"
    for name in LIBRARY_FOLDERS:
        entries = environ[name].split(os.pathsep) if environ.get(name) else ()
        for folder in (
            place / entry for place in places for entry in entries if _is_of_the_tree(entry, root)
        ):
            if is_within(str(folder), root) and any(map(_LIBRARY.search, _listed(folder))):
                return f"{name} leads to libraries in the work tree"
    return ""


@lru_cache(maxsize=256)
def _is_of_the_tree(entry: str, root: Path) -> bool:
    return not entry.startswith("/") or is_within(entry, root)


def _first(programs: Iterator[str]) -> str:
    return next((path for path in programs if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def _is_the_systems_own(program: str, name: str, root: Path) -> bool:
    """Whether it leads to a program of that name elsewhere, as `python` of a virtual environment does."""
    real = os.path.realpath(program)
    is_same = re.fullmatch(rf"{re.escape(name)}[\d.]*", os.path.basename(real)) is not None
    return is_same and not is_within(real, root)


def _names_in(folders: Iterable[Path]) -> set[str]:
    return {name for folder in folders for name in _listed(folder)}


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


__all__ = ["why_not_free"]
