"""Saves the state of a work tree into its shadow directory, as fast as git's stat cache allows.

Must not change the work tree, and must not know what a goal or a turn is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tori_tui.workspace.few_changes import FewChanges, Limits, few_changes
from tori_tui.workspace.file_modes import KnownModes
from tori_tui.workspace.glance import Glance, differing
from tori_tui.workspace.known_tree import FOLDER_MODE, KnownTree
from tori_tui.workspace.loose_objects import write_object, write_ref
from tori_tui.workspace.new_files import NEVER, NewFiles
from tori_tui.workspace.restore import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, finish_all, is_any_begun
from tori_tui.workspace.shadow_git import (
    REFS,
    GitFailed,
    GitStuck,
    ShadowGit,
    find_git,
    paths_of,
    ref_part,
    shadow_directory,
)
from tori_tui.workspace.tree_changes import Entry
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

BULK_FILES: Final = 100

READ_BY_GIT: Final = (".gitignore", ".gitattributes")

_REMOVED: Final = b"0 " + b"0" * 40 + b"\t"


@dataclass(frozen=True, slots=True)
class SavedTree:
    """A state of the work tree that can be gone back to."""

    tree: str
    left_out: tuple[str, ...] = ()
    """Files outside, each by its path: larger than 5 MB or not readable."""
    empty_folders: tuple[str, ...] = ()
    is_partial: bool = False
    """Only dirty and touched files are in it."""
    modes: str = ""
    """The object with the permissions that git does not keep; empty where all are usual."""


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """What is too much to be saved whole."""

    files: int = FILES_LIMIT
    size_bytes: int = TREE_LIMIT_BYTES


@dataclass(slots=True)
class _Found:
    """What differs from the newest checkpoint."""

    changed: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)
    """Not looked into yet."""


class Checkpoints:
    """The checkpoints of one work tree. Its methods block and may be called from any thread."""

    def __init__(
        self, shadow: ShadowGit, user: UserRepository, limits: TreeLimits, *, is_partial: bool
    ) -> None:
        self.shadow = shadow
        self._user = user
        self._limits = limits
        self._new_files = NewFiles(shadow, user, limits.files)
        self._is_partial = is_partial
        self._forced: set[str] = set()
        self._kept_refs: set[str] = set()
        self._modes = KnownModes(shadow.directory)
        self._last: SavedTree | None = None
        self._known: KnownTree | None = None

    @classmethod
    def open(
        cls, root: Path, state_dir: Path, environ: Mapping[str, str], limits: TreeLimits | None = None
    ) -> Checkpoints | None:
        """Return the checkpoints of a work tree, or None where there is no git program."""
        git = find_git(environ, root)
        if git is None:
            return None
        real = Path(os.path.realpath(root))
        home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))
        shadow = ShadowGit(shadow_directory(state_dir, real), real, git, environ)
        is_partial = str(real) in (home, os.sep)
        user = UserRepository(real, git, environ)
        return cls(shadow, user, limits or TreeLimits(), is_partial=is_partial)

    def save(self, owner: str, touched: Iterable[str] = (), suspects: Iterable[str] = ()) -> SavedTree:
        """Save the tree as it is now and keep it for its owner.

        Args:
            owner: The trace for which it is kept.
            touched: Files that a file tool changed; they are saved whatever their size and even if ignored.
            suspects: Saved files that may have changed although git, which counts in seconds, may not see it.

        Raises:
            GitFailed: It could not be saved.
            OSError: The state folder cannot be used.
        """
        _refuse_what_hangs(self.shadow.root)
        with self.shadow.locked():
            finish_all(self.shadow)
            self._modes.load()
            self._modes.look_again(self.shadow.root)
            self._is_partial = self._is_partial or (self.shadow.directory / PARTIAL_NAME).exists()
            wanted = {path for path in touched if _may_be_saved(path)}
            for tries_left in range(SAVE_TRIES - 1, -1, -1):
                try:
                    left_out, empty = self._bring_up_to_date(wanted, set(suspects))
                    tree = self.shadow.run("write-tree").decode().strip()
                    break
                except GitStuck:
                    raise
                except GitFailed:
                    if not tries_left:
                        raise
                    self._drop_broken_index(is_last=tries_left == 1)
            modes = self._modes.saved()
            self._keep(owner, tree, modes)
        self._last = SavedTree(tree, tuple(sorted(left_out)), tuple(sorted(empty)), self._is_partial, modes)
        return self._last

    def ignored(self) -> tuple[str, ...]:
        """Return what stands outside because it is ignored. Call it inside `locked`."""
        return () if self._is_partial else self._new_files.ignored()

    def save_since(
        self, before: Glance | None, now: Glance | None, owner: str, touched: Iterable[str] = ()
    ) -> SavedTree:
        """Do as `save`, without a git process where two looks tell that few known files changed in between.

        Args:
            before: How the tree looked when it was saved last.
            now: How it looks.
            owner: As in `save`.
            touched: As in `save`.

        Raises:
            GitFailed: It could not be saved.
            OSError: The state folder cannot be used.
        """
        last = self._last
        if before is None or now is None or last is None or last.is_partial:
            first = self.save(owner, touched)
            return first if now is None or first.is_partial else self._with_modes(first, now, owner)
        wanted = {path for path in touched if _may_be_saved(path)}
        limits = Limits(wanted, last.left_out, last.empty_folders, SIZE_LIMIT_BYTES)
        with self.shadow.locked():
            saved = None if self._needs_whole_look() else self._saved_quickly(last, before, now, limits)
            if saved is not None:
                self._keep(owner, saved.tree, saved.modes)
                self._last = saved
        return saved or self.save(owner, touched, self._suspects(before, now))

    def _with_modes(self, saved: SavedTree, now: Glance, owner: str) -> SavedTree:
        """Note the permissions of all files at a session's first look: git may not have seen the newest."""
        with self.shadow.locked():
            self._known = KnownTree.read(self.shadow, saved.tree)
            entries = ((path, facts[1], self._known.find(path)) for path, facts in now.items())
            files = [(path, mode) for path, mode, entry in entries if entry and entry.mode != FOLDER_MODE]
            self._modes.load()
            self._modes.note(files, ())
            self._last = replace(saved, modes=self._modes.saved())
            self._keep(owner, self._last.modes)
        return self._last

    def _suspects(self, before: Glance, now: Glance) -> set[str]:
        known = self._known
        entries = {path: known.find(path) for path in differing(before, now)} if known is not None else {}
        return {path for path, entry in entries.items() if entry is not None and entry.mode != FOLDER_MODE}

    def _needs_whole_look(self) -> bool:
        is_partial = (self.shadow.directory / PARTIAL_NAME).exists()
        return is_partial or is_any_begun(self.shadow) or not self._user.is_as_seen()

    def _saved_quickly(
        self, last: SavedTree, before: Glance, now: Glance, limits: Limits
    ) -> SavedTree | None:
        if self._known is None or self._known.name != last.tree or self._known.is_half_changed:
            self._known = KnownTree.read(self.shadow, last.tree)
        known = self._known
        changes = few_changes(known, before, now, limits)
        entries = None if changes is None else self._entries(changes)
        if changes is None or entries is None:
            return None
        self._modes.load()
        self._modes.note(changes.changed.items(), changes.removed)
        if not known.changed(self.shadow, entries, changes.removed):
            return None
        return replace(last, tree=known.name, modes=self._modes.saved())

    def _entries(self, changes: FewChanges) -> dict[str, Entry] | None:
        """Write the content of changed files; None where one of them cannot be read."""
        entries: dict[str, Entry] = {}
        for path, mode in changes.changed.items():
            place = self.shadow.root / path
            try:
                is_link = stat.S_ISLNK(mode)
                data = os.fsencode(os.readlink(place)) if is_link else place.read_bytes()
            except OSError:
                return None
            kind = LINK_MODE if is_link else EXECUTABLE_MODE if mode & stat.S_IXUSR else FILE_MODE
            entries[path] = Entry(kind, write_object(self.shadow.directory, "blob", data))
        return entries

    # ── what differs ─────────────────────────────────────────────────────────────────────

    def _bring_up_to_date(self, wanted: set[str], suspects: set[str]) -> tuple[set[str], set[str]]:
        left_out: set[str] = set()
        empty: set[str] = set()
        for _ in range(LOOKS_LIMIT):
            found = self._look()
            found.changed |= suspects
            suspects = set()
            found.changed |= {
                path for path in wanted if os.path.lexists(self.shadow.root / path)
            } - self._forced
            opened = self._new_files.of_folders(found.folders, empty)
            if not self._is_partial and self._is_too_large(opened | found.changed):
                self._is_partial = True
                (self.shadow.directory / PARTIAL_NAME).touch()
                continue
            found.changed |= opened
            self._forced |= found.changed & wanted
            self._apply(found, wanted, left_out)
            # Where a file became a folder, or was a folder's last one, git shows the folder once the file is
            # out of the index.
            has_new_folders = any(_shows_a_folder(self.shadow.root / path) for path in found.removed)
            if not has_new_folders and not opened - left_out:
                break
        return left_out, empty

    def _look(self) -> _Found:
        found = _Found()
        differing = self.shadow.start("diff-files", "-z", "--raw")
        if not self._is_partial:
            listing = self._new_files.found()
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

    def _is_too_large(self, files: set[str]) -> bool:
        if len(files) > self._limits.files:
            return True
        sizes = (_size_of(self.shadow.root / path) for path in files)
        return sum(size for size in sizes if size <= SIZE_LIMIT_BYTES) > self._limits.size_bytes

    # ── into the index ───────────────────────────────────────────────────────────────────

    def _apply(self, found: _Found, wanted: set[str], left_out: set[str]) -> None:
        added: dict[str, int] = {}
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
                added[path] = status.st_mode
        # First: a file that the index takes for unchanged is not looked at again.
        self._modes.note(added.items(), removed)
        self._forced -= removed
        if removed:
            lines = (_REMOVED + os.fsencode(path) for path in removed)
            self.shadow.run("update-index", "-z", "--index-info", feed=b"\0".join(lines) + b"\0")
        if added:
            self._add(tuple(added))

    def _add(self, paths: Sequence[str]) -> None:
        # Many new files go into one pack: a file each costs ten times as much.
        is_bulk = len(paths) > BULK_FILES
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

    def _keep(self, owner: str, *names: str) -> None:
        for name in filter(None, names):
            ref = f"{REFS}/{ref_part(owner)}/{name}"
            if ref not in self._kept_refs:
                write_ref(self.shadow.directory, ref, name)
                self._kept_refs.add(ref)


def _may_be_saved(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and ".." not in parts and not NEVER & set(parts)


def _refuse_what_hangs(root: Path) -> None:
    for name in READ_BY_GIT:
        if os.path.exists(root / name) and not os.path.isfile(root / name):
            raise GitFailed(f"{name} is no regular file, and git would wait for it for ever.")


def _shows_a_folder(removed: Path) -> bool:
    try:
        if stat.S_ISDIR(os.lstat(removed).st_mode):
            return True
    except OSError:
        pass
    try:
        return not os.listdir(removed.parent)
    except OSError:
        return False


def _size_of(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


__all__ = [
    "FILES_LIMIT",
    "SIZE_LIMIT_BYTES",
    "Checkpoints",
    "SavedTree",
    "TreeLimits",
]
