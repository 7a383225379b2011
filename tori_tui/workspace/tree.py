"""Walking a folder's regular files in a stable order, without those that `.gitignore` names.

Must not follow links, open special files, or go into `.git` and `.trace`.

The rule, the same for every search: `.gitignore` files count as they do for git, so those above the walk up
to the folder that holds `.git` too, and not those outside of a nested repository. Without a repository the
ones in the walk count. Nothing else is left out, names with a leading dot included. A folder or file that is
named by the call is searched even if it is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tori_tui.workspace.paths import CUT_FOLDERS
from tori_tui.workspace.patterns import regex_of


@dataclass(frozen=True, slots=True)
class _Rule:
    """Neighbouring lines of one `.gitignore` that are of a kind."""

    regex: re.Pattern[str]
    is_negated: bool
    is_for_folders: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What one `.gitignore` says of the paths below its folder."""

    prefix: str
    """From its folder to where the walk began, with a final `/`; empty for a folder of the walk itself."""
    folder: str
    """From where the walk began to its folder, with a final `/`; empty above."""
    rules: tuple[_Rule, ...]
    """The last one first."""

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Say whether a path of the walk is ignored; None if nothing is said of it."""
        own = self.prefix + path.removeprefix(self.folder)
        for rule in self.rules:
            if (is_folder or not rule.is_for_folders) and rule.regex.fullmatch(own):
                return not rule.is_negated
        return None


def walk(start: Path, should_stop: Callable[[], bool] = lambda: False) -> Iterator[str]:
    """Yield the regular files below a folder, relative to it, with `/`, sorted folder by folder."""
    is_in_repository = in_repository(start)
    above = _rules_above(start) if is_in_repository else ()
    open_folders = [_opened(str(start), "", above, is_in_repository)]
    while open_folders and not should_stop():
        folder = open_folders[-1]
        entry = next(folder.entries, None)
        if entry is None:
            open_folders.pop()
            continue
        path = folder.below + entry.name
        if entry.is_dir(follow_symlinks=False):
            if not _is_ignored(path, True, folder.rules):
                open_folders.append(_opened(entry.path, path + "/", folder.rules, is_in_repository))
        elif entry.is_file(follow_symlinks=False) and not _is_ignored(path, False, folder.rules):
            yield path


def in_repository(folder: Path) -> bool:
    """Say whether a folder or one above it holds `.git`."""
    return any(os.path.exists(above / ".git") for above in (folder, *folder.parents))


def rules_in(folder: str, prefix: str, below: str) -> IgnoreRules | None:
    """Return what a folder's `.gitignore` says; None if it has none."""
    path = os.path.join(folder, ".gitignore")
    if not os.path.isfile(path):  # a pipe would never be read to its end
        return None
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            kinds = [kind for line in file if (kind := _parsed(line)) is not None]
    except OSError:
        return None
    grouped = [
        _Rule(re.compile("|".join(regex for regex, *_ in group), re.DOTALL), *kind)
        for kind, group in groupby(kinds, key=lambda parsed: parsed[1:])
    ]
    return IgnoreRules(prefix, below, tuple(reversed(grouped)))


def _rules_above(start: Path) -> tuple[IgnoreRules, ...]:
    found: list[IgnoreRules] = []
    folder, prefix = start, ""
    while not os.path.exists(folder / ".git"):
        prefix = f"{folder.name}/{prefix}"
        folder = folder.parent
        if rules := rules_in(str(folder), prefix, ""):
            found.append(rules)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of the walk: what is left of its entries, and the rules for them, the nearest first."""

    below: str
    entries: Iterator[os.DirEntry[str]]
    rules: tuple[IgnoreRules, ...]


def _opened(folder: str, below: str, above: tuple[IgnoreRules, ...], is_in_repository: bool) -> _Folder:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError:
        listed = []
    names = {entry.name for entry in listed}
    own = rules_in(folder, "", below) if ".gitignore" in names else None
    # A repository in a repository has rules of its own only.
    inherited = () if is_in_repository and ".git" in names else above
    wanted = iter([entry for entry in listed if entry.name not in CUT_FOLDERS])
    return _Folder(below, wanted, (own, *inherited) if own else inherited)


def _is_ignored(path: str, is_folder: bool, rules: tuple[IgnoreRules, ...]) -> bool:
    verdicts = (rule.verdict(path, is_folder) for rule in rules)
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _parsed(line: str) -> tuple[str, bool, bool] | None:
    """Return a line's regular expression, whether it is negated, and whether it is for folders only."""
    pattern = line.rstrip("\r\n")
    while pattern.endswith(" ") and not pattern.endswith("\\ "):
        pattern = pattern[:-1]
    if not pattern or pattern.startswith("#"):
        return None
    is_negated = pattern.startswith("!")
    pattern = pattern[1:] if is_negated else pattern
    is_for_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    is_anchored = "/" in pattern
    body = regex_of(pattern.removeprefix("/"))
    if not body:
        return None
    return (body if is_anchored else f"(?:.*/)?{body}", is_negated, is_for_folders)


__all__ = ["IgnoreRules", "in_repository", "rules_in", "walk"]
