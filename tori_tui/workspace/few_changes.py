"""Whether two quick looks at a small tree tell everything that a checkpoint would find.

Must not read a file, and must say None wherever ignore rules, folders or sizes would have a say.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tori_tui.workspace.glance import Glance, differing
from tori_tui.workspace.known_tree import FOLDER_MODE, KnownTree
from tori_tui.workspace.restore_plan import IGNORE_FILE

CHANGES_LIMIT: Final = 64
"""More are faster in one git process."""

_KINDS: Final = (stat.S_IFREG, stat.S_IFLNK)


@dataclass(frozen=True, slots=True)
class FewChanges:
    """Files to save and to take out; nothing else differs from the saved tree."""

    changed: Mapping[str, int]
    """Each with its mode."""
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a checkpoint treats in its own way."""

    wanted: Collection[str]
    """Saved whatever their size and even if ignored."""
    outside: Collection[str]
    empty_folders: Iterable[str]
    size_limit_bytes: int


def few_changes(known: KnownTree, before: Glance, now: Glance, limits: Limits) -> FewChanges | None:
    """Return what changed since the known tree was saved, or None where that needs a whole look."""
    paths = differing(before, now)
    if len(paths) > CHANGES_LIMIT:
        return None
    changed: dict[str, int] = {}
    removed: list[str] = []
    for path in paths:
        old, new = before.get(path), now.get(path)
        if old is not None and new is not None and stat.S_IFMT(old[1]) != stat.S_IFMT(new[1]):
            return None
        mode = (new or old or (0, 0))[1]
        if stat.S_ISDIR(mode):
            if old is None and _holds(path, limits.wanted, now):
                continue
            if old is None or new is None:
                return None
        elif not _is_plain(path, mode, known, limits):
            return None
        elif new is not None and (stat.S_ISLNK(mode) or _has_size(path, new[2], limits)):
            changed[path] = mode
        elif new is None and known.find(path) is not None:
            removed.append(path)
        else:
            return None
    if any(path in now and path not in changed and known.find(path) is None for path in limits.wanted):
        return None
    return FewChanges(changed, tuple(removed))


def _holds(folder: str, wanted: Collection[str], now: Glance) -> bool:
    return any(path.startswith(f"{folder}/") and path in now for path in wanted)


def _is_plain(path: str, mode: int, known: KnownTree, limits: Limits) -> bool:
    entry = known.find(path)
    if entry is None and path not in limits.wanted:
        return False
    if entry is not None and entry.mode == FOLDER_MODE:
        return False
    if stat.S_IFMT(mode) not in _KINDS or path.rpartition("/")[2] == IGNORE_FILE or path in limits.outside:
        return False
    return not any(path.startswith(folder) for folder in limits.empty_folders)


def _has_size(path: str, size_bytes: int, limits: Limits) -> bool:
    return path in limits.wanted or size_bytes <= limits.size_limit_bytes


__all__ = ["CHANGES_LIMIT", "FewChanges", "Limits", "few_changes"]
