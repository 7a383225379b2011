"""A saved tree in memory, so that a change of a few files makes the next one without a git process.

Must not look at a work tree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tori_tui.workspace.loose_objects import write_object
from tori_tui.workspace.shadow_git import ShadowGit
from tori_tui.workspace.tree_changes import Entry

FOLDER_MODE: Final = "40000"
"""As it stands in a tree object; listings write it with a leading zero."""


@dataclass(slots=True)
class KnownTree:
    """What every folder of a saved tree holds, by the folder's path; the root's is empty."""

    name: str
    _folders: dict[str, dict[str, Entry]]
    is_half_changed: bool = False
    """A change was given up: read it anew."""

    @classmethod
    def read(cls, shadow: ShadowGit, name: str) -> KnownTree:
        """Read a saved tree. Call it inside `locked`.

        Raises:
            GitFailed: It is gone.
        """
        folders: dict[str, dict[str, Entry]] = {"": {}}
        for line in shadow.run("ls-tree", "-r", "-t", "-z", name).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, _, sha = facts.decode().split(" ")
            parent, _, last = os.fsdecode(path).rpartition("/")
            folders.setdefault(parent, {})[last] = Entry(mode.removeprefix("0"), sha)
        return cls(name, folders)

    def find(self, path: str) -> Entry | None:
        """Return the file or folder at a path."""
        folder, _, last = path.rpartition("/")
        return self._folders.get(folder, {}).get(last)

    def changed(self, shadow: ShadowGit, puts: dict[str, Entry], removed: Iterable[str]) -> bool:
        """Put and remove files and write the trees that come of it.

        Returns:
            False if a folder would lose its last file.
        """
        dirty: set[str] = set()
        for path in removed:
            folder, _, last = path.rpartition("/")
            del self._folders[folder][last]
            if not self._folders[folder] and folder:
                self.is_half_changed = True
                return False
            dirty.add(folder)
        for path, entry in puts.items():
            folder, _, last = path.rpartition("/")
            self._folders.setdefault(folder, {})[last] = entry
            dirty.add(folder)
        while dirty:
            # The deepest first: a folder's name goes into its parent.
            folder = max(dirty, key=lambda path: (path.count("/") + bool(path), path))
            dirty.remove(folder)
            name = write_object(shadow.directory, "tree", _encoded(self._folders[folder]))
            if not folder:
                self.name = name
                continue
            parent, _, last = folder.rpartition("/")
            self._folders.setdefault(parent, {})[last] = Entry(FOLDER_MODE, name)
            dirty.add(parent)
        return True


def _encoded(entries: dict[str, Entry]) -> bytes:
    """Return a tree object's content; git sorts a folder as if its name ended with `/`."""
    named = [(os.fsencode(name), entry) for name, entry in entries.items()]
    named.sort(key=lambda item: item[0] + b"/" if item[1].mode == FOLDER_MODE else item[0])
    return b"".join(
        entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.name) for name, entry in named
    )


__all__ = ["FOLDER_MODE", "KnownTree"]
