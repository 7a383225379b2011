"""Saves the state of a work tree into its shadow directory, as fast as git's stat cache allows.

Must not change the work tree, and must not know what a goal or a turn is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.workspace.restore import finish_all
from tori_tui.workspace.shadow_git import (
    REFS,
    GitFailed,
    ShadowGit,
    find_git,
    paths_of,
    ref_part,
    shadow_directory,
)
from tori_tui.workspace.user_repository import UserRepository

SIZE_LIMIT_BYTES: Final = 5 * 1024 * 1024
"""From DESIGN §13: larger files stand outside, unless a file tool changed them."""

FILES_LIMIT: Final = 50_000
TREE_LIMIT_BYTES: Final = 1 << 30
"""From DESIGN §13: above either only dirty and touched files are saved."""

PARTIAL_NAME: Final = "partial"

LOOKS_LIMIT: Final = 4
"""Each look finds what a newly opened folder holds; repositories in repositories need one more each."""

SAVE_TRIES: Final = 3
"""Files come and go while they are read."""

FOLDERS_A_CALL: Final = 100

_REMOVED: Final = b"0 " + b"0" * 40 + b"\t"
_NEVER: Final = frozenset({".git", ".trace"})


@dataclass(frozen=True, slots=True)
class SavedTree:
    """A state of the work tree that can be gone back to."""

    tree: str
    left_out: tuple[str, ...] = ()
    """Files outside, each by its path: larger than 5 MB or not readable."""
    empty_folders: tuple[str, ...] = ()
    is_partial: bool = False
    """Only dirty and touched files are in it."""


@dataclass(slots=True)
class _Found:
    """What differs from the newest checkpoint."""

    changed: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)
    """Not looked into yet."""


class Checkpoints:
    """The checkpoints of one work tree. Its methods block and may be called from any thread."""

    def __init__(self, shadow: ShadowGit, user: UserRepository, *, is_partial: bool) -> None:
        self.shadow = shadow
        self._user = user
        self._is_partial = is_partial
        self._forced: set[str] = set()
        self._kept_refs: set[str] = set()

    @classmethod
    def open(cls, root: Path, state_dir: Path, environ: Mapping[str, str]) -> Checkpoints | None:
        """Return the checkpoints of a work tree, or None where there is no git program."""
        git = find_git(environ)
        if git is None:
            return None
        real = Path(os.path.realpath(root))
        home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))
        shadow = ShadowGit(shadow_directory(state_dir, real), real, git, environ)
        is_partial = str(real) in (home, os.sep)
        return cls(shadow, UserRepository(real, git, environ), is_partial=is_partial)

    def save(self, owner: str, touched: Iterable[str] = ()) -> SavedTree:
        """Save the tree as it is now and keep it for its owner.

        Args:
            owner: The trace for which it is kept.
            touched: Files that a file tool changed; they are saved whatever their size and even if ignored.

        Raises:
            GitFailed: It could not be saved.
            OSError: The state folder cannot be used.
        """
        with self.shadow.locked():
            finish_all(self.shadow)
            self._is_partial = self._is_partial or (self.shadow.directory / PARTIAL_NAME).exists()
            wanted = {path for path in touched if _may_be_saved(path)}
            for tries_left in range(SAVE_TRIES - 1, -1, -1):
                try:
                    left_out, empty = self._bring_up_to_date(wanted)
                    tree = self.shadow.run("write-tree").decode().strip()
                    break
                except GitFailed:
                    if not tries_left:
                        raise
                    self._drop_broken_index(is_last=tries_left == 1)
            self._keep(owner, tree)
        return SavedTree(tree, tuple(sorted(left_out)), tuple(sorted(empty)), self._is_partial)

    # ── what differs ─────────────────────────────────────────────────────────────────────

    def _bring_up_to_date(self, wanted: set[str]) -> tuple[set[str], set[str]]:
        left_out: set[str] = set()
        empty: set[str] = set()
        for _ in range(LOOKS_LIMIT):
            found = self._look()
            found.changed |= wanted - self._forced
            opened = self._open_folders(found, empty)
            if not self._is_partial and self._is_too_large(opened | found.changed):
                self._is_partial = True
                (self.shadow.directory / PARTIAL_NAME).touch()
                continue
            found.changed |= opened
            self._apply(found, wanted, left_out)
            self._forced |= wanted
            # Where a file became a folder, git shows what is in it once the file is out of the index.
            became_folders = any(_is_folder(self.shadow.root / path) for path in found.removed)
            if not became_folders and not opened - left_out:
                break
        return left_out, empty

    def _look(self) -> _Found:
        found = _Found()
        differing = self.shadow.start("diff-files", "-z", "--raw")
        if not self._is_partial:
            arguments = ["ls-files", "-z", "-o", "--directory", *self._ignore_rules()]
            listing = paths_of(self.shadow.finish(self.shadow.start(*arguments)))
            found.folders = [path for path in listing if path.endswith("/")]
            found.changed.update(path for path in listing if not path.endswith("/"))
            forced = set(self._user.tracked_and_ignored()) - self._forced
            found.changed |= forced
            self._forced |= forced
        else:
            found.changed.update(self._user.dirty())
        raw = paths_of(self.shadow.finish(differing))
        for facts, path in zip(raw[::2], raw[1::2], strict=True):
            (found.removed if facts.endswith(" D") else found.changed).add(path)
        return found

    def _ignore_rules(self) -> list[str]:
        rules = ["--exclude-standard"]
        if (path := self._user.exclude_file) is not None:
            rules.append(f"--exclude-from={path}")
        return rules

    def _open_folders(self, found: _Found, empty: set[str]) -> set[str]:
        """Return the files of folders that hold nothing known yet; empty ones are noted."""
        empty.clear()
        full: list[str] = []
        for folder in found.folders:
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
                files.update(self._of_nested_repository(nested))
        return files

    def _of_nested_repository(self, folder: str) -> Iterator[str]:
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
            if n_paths > FILES_LIMIT:
                process.kill()
        process.communicate()
        if process.returncode and n_paths <= FILES_LIMIT:
            raise GitFailed("The files of the tree could not be listed for a checkpoint.")
        return paths_of(b"".join(parts))

    def _is_too_large(self, files: set[str]) -> bool:
        if len(files) > FILES_LIMIT:
            return True
        sizes = (_size_of(self.shadow.root / path) for path in files)
        return sum(size for size in sizes if size <= SIZE_LIMIT_BYTES) > TREE_LIMIT_BYTES

    # ── into the index ───────────────────────────────────────────────────────────────────

    def _apply(self, found: _Found, wanted: set[str], left_out: set[str]) -> None:
        added: list[str] = []
        removed = set(found.removed)
        for path in found.changed:
            try:
                status = os.lstat(self.shadow.root / path)
            except OSError:
                removed.add(path)
                continue
            if stat.S_ISDIR(status.st_mode):
                removed.add(path)
            elif stat.S_ISREG(status.st_mode) and path not in wanted and status.st_size > SIZE_LIMIT_BYTES:
                left_out.add(path)
                removed.add(path)
            elif stat.S_ISREG(status.st_mode) and not os.access(self.shadow.root / path, os.R_OK):
                # Its last state that could be read stays; it is named, so nothing touches it.
                left_out.add(path)
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                added.append(path)
        if removed:
            lines = (_REMOVED + os.fsencode(path) for path in removed)
            self.shadow.run("update-index", "-z", "--index-info", feed=b"\0".join(lines) + b"\0")
        if added:
            self._add(added)

    def _add(self, paths: Sequence[str]) -> None:
        # Many new files go into one pack: a file each costs ten times as much.
        is_bulk = len(paths) > FOLDERS_A_CALL
        setting = ("-c", "core.bigFileThreshold=1") if is_bulk else ()
        feed = b"\0".join(map(os.fsencode, paths)) + b"\0"
        self.shadow.run(
            *setting, "update-index", "-z", "--add", "--replace", "--remove", "--stdin", feed=feed
        )

    def _drop_broken_index(self, *, is_last: bool) -> None:
        """Before the last try begin with an empty index: a power cut may have torn the old one."""
        (self.shadow.directory / "index.lock").unlink(missing_ok=True)
        if is_last:
            (self.shadow.directory / "index").unlink(missing_ok=True)
            self._forced.clear()

    def _keep(self, owner: str, tree: str) -> None:
        name = f"{REFS}/{ref_part(owner)}/{tree}"
        if name in self._kept_refs:
            return
        # A ref that only ever names one object needs no lock; a process for it costs 3 ms a turn.
        path = self.shadow.directory / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self.shadow.directory / "ref.new"
            temporary.write_text(f"{tree}\n")
            os.replace(temporary, path)
        self._kept_refs.add(name)


def _may_be_saved(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and ".." not in parts and not _NEVER & set(parts)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _size_of(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


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


__all__ = [
    "FILES_LIMIT",
    "SIZE_LIMIT_BYTES",
    "Checkpoints",
    "SavedTree",
]
