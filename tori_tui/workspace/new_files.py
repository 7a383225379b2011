"""What git lists of a work tree that is in no index yet: new files, folders, and what is ignored.

Must not change an index, and must not know what a checkpoint holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.workspace.shadow_git import GitFailed, ShadowGit, paths_of
from tori_tui.workspace.user_repository import UserRepository

FOLDERS_A_CALL: Final = 100

NEVER: Final = frozenset({".git", ".trace"})
"""Folders that are never part of a checkpoint."""


@dataclass(frozen=True, slots=True)
class NewFiles:
    """Lists files by the ignore rules of the tree and its owner. Call it inside `locked`."""

    shadow: ShadowGit
    user: UserRepository
    files_limit: int
    """A longer listing is stopped."""

    def ignored(self) -> tuple[str, ...]:
        """Return what is ignored; a folder stands for all in it."""
        listing = self._listed("ls-files", "-z", "-o", "-i", "--directory", *self._ignore_rules())
        return tuple(path for path in listing if not NEVER & set(path.split("/")))

    def found(self) -> list[str]:
        """Return new files, and folders (with a `/` behind) that hold nothing known."""
        arguments = ("ls-files", "-z", "-o", "--directory", *self._ignore_rules())
        return paths_of(self.shadow.finish(self.shadow.start(*arguments)))

    def of_folders(self, folders: Iterable[str], empty: set[str]) -> set[str]:
        """Return the files of folders that hold nothing known yet; empty ones are noted."""
        empty.clear()
        full: list[str] = []
        for folder in folders:
            leaves = _empty_leaves(self.shadow.root / folder)
            if leaves is None:
                full.append(folder)
            else:
                empty.update(f"{folder}{leaf}" for leaf in leaves)
        files: set[str] = set()
        for start in range(0, len(full), FOLDERS_A_CALL):
            part = full[start : start + FOLDERS_A_CALL]
            listing = self._listed("ls-files", "-z", "-o", *self._ignore_rules(), "--", *part)
            files.update(path for path in listing if not path.endswith("/"))
            for nested in (path for path in listing if path.endswith("/")):
                files.update(self._of_nested(nested))
        return files

    def _of_nested(self, folder: str) -> Iterator[str]:
        """Yield the files of a repository in the tree: a plain folder, its own ignore rules in force."""
        process = self.shadow.start(
            *("ls-files", "-z", "-o", "--exclude-standard"),
            work_tree=self.shadow.root / folder,
            index=self.shadow.directory / "index.of-no-files",
        )
        for path in paths_of(self.shadow.finish(process)):
            if not path.endswith("/"):
                yield f"{folder}{path}"

    def _listed(self, *arguments: str) -> list[str]:
        """Return the paths of a listing; one that grows past the limit is stopped."""
        process = self.shadow.start(*arguments)
        assert process.stdout is not None
        parts: list[bytes] = []
        n_paths = 0
        while piece := process.stdout.read(1 << 20):
            parts.append(piece)
            n_paths += piece.count(b"\0")
            if n_paths > self.files_limit:
                process.kill()
        process.communicate()
        if process.returncode and n_paths <= self.files_limit:
            raise GitFailed("The files of the tree could not be listed for a checkpoint.")
        return paths_of(b"".join(parts))

    def _ignore_rules(self) -> list[str]:
        rules = ["--exclude-standard"]
        if (path := self.user.exclude_file) is not None:
            rules.append(f"--exclude-from={path}")
        return rules


def _empty_leaves(folder: Path) -> list[str] | None:
    """Return the folders below (itself as the empty name) that hold nothing; None if there is any file."""
    leaves: list[str] = []
    for place, folders, files in os.walk(folder):
        if files or any(os.path.islink(os.path.join(place, name)) for name in folders):
            return None
        if not folders:
            inside = os.path.relpath(place, folder)
            leaves.append("" if inside == "." else f"{inside}/")
    return leaves


__all__ = ["NEVER", "NewFiles"]
