"""For a path that does not exist: files that may have been meant.

Must not take long: it looks at a bounded number of names.
"""

from __future__ import annotations

import os
from collections import deque
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from tori_tui.workspace.files import FileUnusable
from tori_tui.workspace.paths import CUT_FOLDERS, Workspace

N_SUGGESTIONS: Final = 3
SEEN_LIMIT_ENTRIES: Final = 10_000
"""About 20 ms."""


def missing_file(workspace: Workspace, missing: Path, name: str) -> FileUnusable:
    """Return the error for a file that is not there, with those that may have been meant."""
    near = ", ".join(nearest_paths(workspace, missing))
    return FileUnusable(
        f"There is no file {name}.", f"Did you mean: {near}?" if near else "Look with glob_files."
    )


def nearest_paths(workspace: Workspace, missing: Path) -> tuple[str, ...]:
    """Return existing paths, as the model may use them, that are like the missing one."""
    same_name = _with_name(workspace.root, missing.name)
    folder = next((parent for parent in missing.parents if parent.is_dir()), workspace.root)
    wanted = missing.relative_to(folder).parts[0]
    try:
        names = {name.lower(): name for name in sorted(os.listdir(folder)) if name not in CUT_FOLDERS}
    except OSError:
        names = {}
    close = [folder / names[key] for key in get_close_matches(wanted.lower(), names, N_SUGGESTIONS)]
    found = dict.fromkeys([*same_name, *close])
    return tuple(workspace.shown(path) for path in list(found)[:N_SUGGESTIONS])


def _with_name(root: Path, name: str) -> list[Path]:
    waiting, n_seen = deque([str(root)]), 0
    found: list[Path] = []
    while waiting and n_seen < SEEN_LIMIT_ENTRIES and len(found) < N_SUGGESTIONS:
        try:
            entries = sorted(os.scandir(waiting.popleft()), key=lambda entry: entry.name)
        except OSError:
            continue
        n_seen += len(entries)
        found += [Path(entry.path) for entry in entries if entry.name == name]
        waiting += [
            entry.path
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and entry.name not in CUT_FOLDERS
        ]
    return found[:N_SUGGESTIONS]


__all__ = ["missing_file", "nearest_paths"]
