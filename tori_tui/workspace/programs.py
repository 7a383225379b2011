"""Finds programs by name, of the system and of the user, never of the work tree.

Must not start anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def find_program(name: str, environ: Mapping[str, str], root: Path) -> str | None:
    """Return the first program of that name on the search path that is none of the work tree; None without.

    Args:
        name: Without a folder.
        environ: Its `PATH` is searched. Entries that are relative name folders of wherever one stands.
        root: The work tree.
    """
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder) if folder.startswith("/") else None
        if found and not is_within(folder, root) and not is_within(found, root):
            return found
    return None


def is_within(path: str, root: Path) -> bool:
    """Say whether a path lies in a work tree, by its name or where it leads. None does in `/`."""
    top = os.path.realpath(root)
    names = (os.path.normpath(path), os.path.realpath(path))
    return top != os.sep and any(name == top or name.startswith(f"{top}/") for name in names)


__all__ = ["find_program", "is_within"]
