"""Where the words of a reading command lead on this disk: through links, patterns and folders.

Must not open a file; the policy judges what is found.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from tori_tui.permission.command_class import CommandClass
from tori_tui.permission.protected_paths import may_hold_secrets
from tori_tui.permission.source_names import names_sources

ENTRIES_LIMIT: Final = 20_000
"""Looked through in about 30 ms; a search through more than that asks."""

TOO_MANY: Final = "~ (too many files to look through for secrets)"
"""No path: it begins as a home folder does, so the policy asks and shows it."""

SKIPPED_FOLDERS: Final = frozenset({".git"})
"""Its objects are compressed; what in it is worth hiding is asked for by name."""


def reached_paths(found: CommandClass, cwd: Path, entries_limit: int = ENTRIES_LIMIT) -> tuple[str, ...]:
    """Return what a reading command would come upon and its words do not say."""
    if not found.is_reading:
        return ()
    reached: list[str] = []
    for word in found.paths:
        reached += _led(word, cwd, entries_limit)
    for folder in found.folders:
        reached += _secrets_below(cwd / folder, entries_limit)
    if found.opens_found:
        folders = {os.path.realpath(path) for path in (cwd, *(cwd / word for word in found.paths))}
        for folder in sorted(folders):
            reached += _linked_sources_below(folder, entries_limit)
    for folder in found.git_folders:
        reached += _bare_repositories(cwd / folder)
    return tuple(dict.fromkeys(reached))


def _bare_repositories(folder: Path) -> list[str]:
    """Return the settings that git would take from a folder that only looks like a repository.

    In a folder without `.git` that has its insides, git believes the `config` that lies there, and with it
    programs to run. Any file tool could have put it there.
    """
    for place in (Path(os.path.realpath(folder)), *Path(os.path.realpath(folder)).parents):
        if (place / ".git").exists():
            return []
        if (place / "HEAD").exists() and (place / "objects").is_dir() and (place / "refs").is_dir():
            return [str(place / ".git" / "config")]
    return []


def _led(word: str, cwd: Path, entries_limit: int) -> list[str]:
    written = os.path.normpath(cwd / word)
    if not glob.has_magic(word):
        real = os.path.realpath(written)
        return [real] if real != written else []
    matches = list(islice(glob.iglob(written), entries_limit + 1))
    if len(matches) > entries_limit:
        return [TOO_MANY]
    return [real for path in matches if (real := os.path.realpath(path)) != path or may_hold_secrets(path)]


def _secrets_below(folder: Path, entries_limit: int) -> list[str]:
    """Return the files with secrets below a folder, of which a recursive search would show lines."""
    found: list[str] = []
    for count, entry in enumerate(_entries(os.path.realpath(folder))):
        if count >= entries_limit:
            return [TOO_MANY]
        if may_hold_secrets(entry):
            found.append(entry)
    return found


def _linked_sources_below(folder: str, entries_limit: int) -> list[str]:
    """Return where the links below a folder lead that a search by the names of sources would find."""
    found: list[str] = []
    for count, entry in enumerate(_entries(folder)):
        if count >= entries_limit:
            return [TOO_MANY]
        if os.path.islink(entry) and names_sources(entry):
            found.append(os.path.realpath(entry))
    hooks = os.path.join(folder, ".git", "hooks")
    names = os.listdir(hooks) if os.path.isdir(hooks) else ()
    return found + [os.path.join(hooks, name) for name in names if names_sources(name)]


def _entries(top: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        yield from (os.path.join(folder, name) for name in names)


__all__ = ["reached_paths"]
