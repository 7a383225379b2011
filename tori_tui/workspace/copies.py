"""Copies of the work tree for branches: outside the user's tree, removed at the end, swept after a crash.

Must not write anything into the work tree that is copied, nor into the user's repository.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.checkpoints import Checkpoints, SavedTree, TreeLimits
from tori_tui.workspace.copied_repository import copy_repository
from tori_tui.workspace.shadow_git import ShadowGit, paths_of
from tori_tui.workspace.tree_changes import changes_between
from tori_tui.workspace.tree_copy import borrow_objects
from tori_tui.workspace.user_repository import UserRepository

COPIES_NAME: Final = "copies"
NAMED_PATHS: Final = 10
LOCK_NAME: Final = "lock"
SHADOW_NAME: Final = "git"

LARGE_LIMIT_BYTES: Final = 256 * 1024 * 1024
"""Of files over 5 MB that are saved for copies, together: a second or two of compressing."""

PATCH_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Of new content in one change: git needs seconds for a binary patch of it."""

_OWNER: Final = "branch"


class CopyFailed(ToriError):
    """There can be no copy of the work tree."""


@dataclass(frozen=True, slots=True)
class BranchPatch:
    """What changed in a copy."""

    data: bytes
    """A binary patch with full object names; empty where nothing changed."""
    added: int = 0
    removed: int = 0
    paths: tuple[str, ...] = ()
    note: str = ""
    """What of the change is not in the patch, and why."""


@dataclass(slots=True)
class TreeCopy:
    """One copy of the work tree, for one branch."""

    folder: Path
    root: Path
    """The copied tree itself; its folder has the original's name, which some programs look at."""
    base: str
    checkpoints: Checkpoints

    def patch(self) -> BranchPatch:
        """Return what was changed since the copy was made.

        Raises:
            GitFailed: It cannot be told.
            OSError: The copy cannot be read.
        """
        saved = whole_tree(self.checkpoints, _OWNER)
        left_out = f"not in its change: {_listed(saved.left_out)}" if saved.left_out else ""
        shadow = self.checkpoints.shadow
        with shadow.locked():
            tree = self._with_left_out(saved)
            if tree == self.base:
                return BranchPatch(b"", note=left_out)
            numbers = shadow.run("diff-tree", "-r", "-z", "--no-renames", "--numstat", self.base, tree)
            added, removed, paths = _counted(numbers)
            size_bytes = _new_bytes(shadow, self.base, tree)
            if size_bytes > PATCH_LIMIT_BYTES:
                text = f"its change takes {size_bytes >> 20} MB and is not kept: {_listed(paths)}"
                return BranchPatch(b"", note=text)
            flags = ("--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv")
            data = shadow.run("diff-tree", "-p", "-r", "-M", *flags, self.base, tree)
        return BranchPatch(data, added, removed, paths, left_out)

    def _with_left_out(self, saved: SavedTree) -> str:
        """Return the tree in which files that could not be saved stand as they were, not as removed."""
        shadow = self.checkpoints.shadow
        (changes,) = changes_between(shadow, [(self.base, saved.tree)])
        lines = [
            f"{change.before.mode} {change.before.name}\t{path}".encode("utf-8", "surrogateescape")
            for path, change in changes.items()
            if path in saved.left_out and change.before is not None and change.after is None
        ]
        if not lines:
            return saved.tree
        shadow.run("update-index", "-z", "--index-info", feed=b"\0".join(lines) + b"\0")
        return shadow.run("write-tree").decode().strip()

    def size_bytes(self) -> int:
        """Return how much disk it takes; links are not followed."""
        return sum(map(_disk_bytes, _entries(self.folder)))

    def remove(self) -> None:
        """Remove it, whatever stands in it."""
        remove_tree(self.folder)


@dataclass(slots=True)
class Copies:
    """The copies of one `explore` call, held by a lock that a killed process cannot keep."""

    folder: Path
    lender: ShadowGit
    """The checkpoints of the work tree, whose objects the copies borrow."""
    links: tuple[str, ...] = ()
    """Folders that every copy shares with the work tree by a link."""
    _lock: int = field(default=-1, init=False)

    def open(self) -> None:
        """Make the folder, ours until `close`.

        Raises:
            CopyFailed: It cannot be made.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True)
            unlocked = self.folder / f"{LOCK_NAME}.new"
            self._lock = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with suppress(OSError):  # a file system without locks: nobody sweeps there
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only now can it be taken for a left-over one.
            os.rename(unlocked, self.folder / LOCK_NAME)
        except OSError as error:
            self.close()
            raise CopyFailed(f"No room for copies in {self.folder}: {error.strerror}.") from error

    def make(self, name: str, tree: str, empty_folders: Sequence[str] = ()) -> TreeCopy:
        """Return a new copy of a saved tree, with a repository that the user's history can be read in.

        Raises:
            CopyFailed: It could not be made; nothing of it is left.
        """
        folder = self.folder / name
        original = self.lender.root
        root = folder / (original.name or "tree")
        shadow = ShadowGit(folder / SHADOW_NAME, root, self.lender.git, self.lender.environ)
        try:
            root.mkdir(mode=0o700, parents=True)
            borrow_objects(shadow, self.lender)
            with shadow.locked():
                shadow.run("read-tree", tree)
                shadow.run("checkout-index", "--all", "--quiet", "--index")
            for empty in empty_folders:
                (root / empty).mkdir(parents=True, exist_ok=True)
            linked = tuple(link for link in self.links if _link(original / link, root / link))
            patterns = tuple(f"/{link.strip('/')}" for link in linked)
            _exclude(shadow.directory / "info" / "exclude", patterns)
            copy_repository(original, root, self.lender.git, self.lender.environ, patterns)
        except (OSError, ToriError) as error:
            remove_tree(folder)
            raise CopyFailed(f"The copy of the work tree for a branch could not be made: {error}") from error
        user = UserRepository(root, self.lender.git, self.lender.environ)
        return TreeCopy(folder, root, tree, Checkpoints(shadow, user, TreeLimits(), is_partial=False))

    def close(self) -> None:
        """Remove every copy. A second call does nothing."""
        _remove_lock_last(self.folder)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        with suppress(OSError):  # other calls have copies
            self.folder.parent.rmdir()


def whole_tree(
    checkpoints: Checkpoints,
    owner: str,
    touched: Sequence[str] = (),
    limit_bytes: int = LARGE_LIMIT_BYTES,
) -> SavedTree:
    """Save a tree with its large files too, which checkpoints leave out: the smallest first, up to a limit.

    Raises:
        GitFailed: It could not be saved.
        OSError: The disk has no room.
    """
    saved = checkpoints.save(owner, touched)
    sizes = sorted((_size_bytes(checkpoints.shadow.root / path), path) for path in saved.left_out)
    totals = accumulate(size for size, _ in sizes)
    fitting = [path for (_, path), total in zip(sizes, totals, strict=True) if total <= limit_bytes]
    return checkpoints.save(owner, (*touched, *fitting)) if fitting else saved


def tree_bytes(shadow: ShadowGit, tree: str) -> int:
    """Return how large the files of a saved tree are together."""
    with shadow.locked():
        listing = shadow.run("ls-tree", "-r", "-z", "-l", tree)
    sizes = (entry.partition("\t")[0].rpartition(" ")[2] for entry in paths_of(listing))
    return sum(int(size) for size in sizes if size.isdecimal())


def sweep_copies(state_dir: Path) -> int:
    """Remove the copies whose process is gone, and return how many calls had left some."""
    parent = state_dir / COPIES_NAME
    n_swept = 0
    for folder in _folders(parent):
        try:
            descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            with suppress(OSError):  # it is being made just now, or was killed before it held anything
                folder.rmdir()
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            _remove_lock_last(folder)
            n_swept += 1
        finally:
            os.close(descriptor)
    with suppress(OSError):
        parent.rmdir()
    return n_swept


def _remove_lock_last(folder: Path) -> None:
    """Remove a call's folder so that a kill in the middle leaves what the next sweep finds."""
    for inner in _folders(folder):
        if inner.name != LOCK_NAME:
            remove_tree(inner)
    remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder and everything in it, write-protected folders too; what cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(place, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _link(source: Path, target: Path) -> bool:
    """Link a folder of the work tree into a copy, unless the copy has something there."""
    if not source.is_dir() or os.path.lexists(target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(os.path.realpath(source), target)
    return True


def _exclude(path: Path, patterns: Sequence[str]) -> None:
    with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(f"{pattern}\n" for pattern in patterns)


def _counted(listing: bytes) -> tuple[int, int, tuple[str, ...]]:
    """Return the lines added and removed, and the paths, of git's numbers; binary files have none."""
    added = removed = 0
    paths: list[str] = []
    for entry in paths_of(listing):
        more, less, path = entry.split("\t", 2)
        added += int(more) if more.isdecimal() else 0
        removed += int(less) if less.isdecimal() else 0
        paths.append(path)
    return added, removed, tuple(paths)


def _folders(parent: Path) -> list[Path]:
    try:
        return [parent / name for name in os.listdir(parent)]
    except OSError:
        return []


def _new_bytes(shadow: ShadowGit, before: str, after: str) -> int:
    """Return how large the contents are that a tree has and an earlier one has not."""
    (changes,) = changes_between(shadow, [(before, after)])
    names = {change.after.name for change in changes.values() if change.after is not None}
    if not names:
        return 0
    sizes = shadow.run("cat-file", "--batch-check=%(objectsize)", feed="\n".join(names).encode() + b"\n")
    return sum(map(int, sizes.split()))


def _size_bytes(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED_PATHS} more" if len(paths) > NAMED_PATHS else ""
    return ", ".join(paths[:NAMED_PATHS]) + more


def _entries(folder: Path) -> Iterator[Path]:
    for place, _, files in os.walk(folder):
        yield from (Path(place, name) for name in files)


def _disk_bytes(path: Path) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0


__all__ = [
    "COPIES_NAME",
    "BranchPatch",
    "Copies",
    "CopyFailed",
    "TreeCopy",
    "remove_tree",
    "sweep_copies",
    "tree_bytes",
    "whole_tree",
]
