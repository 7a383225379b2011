"""Carries out a restore, so that a kill at any moment leaves the old tree or, at the next start, the new one.

The steps are written down before the first of them; whoever works in the tree next finishes them. Must not
overwrite or delete a file that is not as the plan found it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.workspace.file_modes import process_umask, usual_bits
from tori_tui.workspace.left_restores import BEGUN, CARRIED_OUT, is_any_left
from tori_tui.workspace.restore_plan import FOLDER, KEPT_MODE, PERMISSIONS, USUAL, Step
from tori_tui.workspace.shadow_git import BlobReader, ShadowGit, blob_name, ref_part
from tori_tui.workspace.tree_changes import Entry

LINK_MODE: Final = "120000"
FILE_MODE: Final = "100644"
EXECUTABLE_MODE: Final = "100755"


READ_BITS: Final = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
EXECUTE_BITS: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


@dataclass(frozen=True, slots=True)
class Journal:
    """A restore that is written down: what is to be done, and what its owner wants to remember of it."""

    owner: str
    outputs: str
    """The folder with the bytes that were kept of files outside the checkpoints."""
    steps: tuple[Step, ...]
    note: Mapping[str, object]


def begin(shadow: ShadowGit, journal: Journal) -> tuple[str, ...]:
    """Write a restore down and carry it out; returns the paths that were left alone.

    `forget` it once its outcome is recorded.
    """
    with shadow.locked():
        path = shadow.directory / f"{BEGUN}{ref_part(journal.owner)}.json"
        _write_synced(path, _encoded(journal))
        return _carry_out(shadow, journal, path)


def finish_all(shadow: ShadowGit) -> None:
    """Finish every restore that a kill cut off. Call it inside `locked`, before the tree is looked at."""
    for path in sorted(shadow.directory.glob(f"{BEGUN}*.json")):
        if (journal := _decoded(path)) is not None:
            _carry_out(shadow, journal, path)


def is_any_begun(shadow: ShadowGit) -> bool:
    """Say whether a kill cut off a restore that is not finished yet."""
    return any(shadow.directory.glob(f"{BEGUN}*.json"))


def left_by_kill(shadow: ShadowGit, owner: str) -> Journal | None:
    """Return a restore whose outcome its owner may not have recorded; its files are restored then."""
    if not is_any_left(shadow.directory):
        # Nothing to mend, so nothing to wait for: another session may be saving the tree just now.
        return None
    with shadow.locked():
        finish_all(shadow)
    path = shadow.directory / f"{CARRIED_OUT}{ref_part(owner)}.json"
    return _decoded(path) if path.exists() else None


def forget(shadow: ShadowGit, owner: str) -> None:
    """Its outcome is recorded: the restore is over."""
    (shadow.directory / f"{CARRIED_OUT}{ref_part(owner)}.json").unlink(missing_ok=True)


def _carry_out(shadow: ShadowGit, journal: Journal, path: Path) -> tuple[str, ...]:
    with shadow.blobs() as blobs:
        work = _Restoring(shadow.root, blobs, lambda name: _kept(Path(journal.outputs) / name))
        left_alone = work.run(journal.steps)
    os.replace(path, path.with_name(CARRIED_OUT + path.name.removeprefix(BEGUN)))
    return left_alone


@dataclass(frozen=True, slots=True)
class _Restoring:
    root: Path
    blobs: BlobReader
    read_kept: Callable[[str], bytes | None]

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        left_alone: list[str] = []
        # What goes away first, the deepest first: a folder may have to make room for a file.
        removals = sorted((s for s in steps if s.then is None), key=lambda s: s.path, reverse=True)
        for step in removals:
            if not self._remove(step):
                left_alone.append(step.path)
        for step in steps:
            if step.then is not None and not self._put(step, step.then):
                left_alone.append(step.path)
        return tuple(sorted(left_alone))

    def _remove(self, step: Step) -> bool:
        path = self.root / step.path
        if step.now == FOLDER:
            with suppress(OSError):  # something stands in it, or it is gone
                path.rmdir()
            return True
        folders = list(self._real_parents(path))
        if len(folders) == len(path.relative_to(self.root).parts) - 1:
            found = entry_at(path)
            if found is not None and found != step.now:
                return False
            if found is not None:
                path.unlink()
        elif path.exists():
            return False
        # Also where the file is gone already: a kill may have fallen between the file and its folders.
        with suppress(OSError):  # the first folder that holds something ends it
            for folder in reversed(folders):
                folder.rmdir()
        return True

    def _put(self, step: Step, then: Entry) -> bool:
        path = self.root / step.path
        if not self._make_parents(path):
            return False
        if then == FOLDER:
            with suppress(OSError):
                path.mkdir()
            return path.is_dir()
        if then == PERMISSIONS:
            return _set_bits(path, step.bits)
        data = self.read_kept(then.name) if then.mode == KEPT_MODE else self.blobs.read(then.name)
        if data is None:
            return False
        found = entry_at(path)
        is_content = found is not None and found.name == blob_name(data)
        if is_content and found is not None and then.mode in (found.mode, KEPT_MODE):
            return then.mode == LINK_MODE or _set_bits(path, step.bits)
        if found != step.now:
            return False
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
        return _replace(path, then.mode, data, step.bits)

    def _parents(self, path: Path) -> list[Path]:
        """Return the folders on the way to a path, from the root's down."""
        inner = path.relative_to(self.root).parents
        return [self.root / folder for folder in reversed(inner) if folder.parts]

    def _real_parents(self, path: Path) -> Iterator[Path]:
        """Yield the folders on the way to a path, up to what is missing or a link out of the tree."""
        for folder in self._parents(path):
            try:
                if not stat.S_ISDIR(os.lstat(folder).st_mode):
                    return
            except OSError:
                return
            yield folder

    def _make_parents(self, path: Path) -> bool:
        """Make what is missing on the way; False where it leads through something else than folders."""
        for folder in self._parents(path):
            try:
                if not stat.S_ISDIR(os.lstat(folder).st_mode):
                    return False
            except FileNotFoundError:
                folder.mkdir()
            except OSError:
                return False
        return True


def entry_at(path: Path) -> Entry | None:
    """Return what stands at a path now, as a saved tree would hold it; None where there is nothing.

    An empty folder counts as nothing: git says nothing of it either.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return Entry(LINK_MODE, blob_name(os.fsencode(os.readlink(path))))
    if stat.S_ISDIR(status.st_mode):
        return Entry("folder", "") if os.listdir(path) else None
    if not stat.S_ISREG(status.st_mode):
        return Entry("special", "")
    mode = EXECUTABLE_MODE if status.st_mode & stat.S_IXUSR else FILE_MODE
    try:
        return Entry(mode, blob_name(path.read_bytes()))
    except OSError:
        return Entry(mode, "unreadable")


def _set_bits(path: Path, wanted: int | None) -> bool:
    """Give a file its permissions; without any it keeps those that it has."""
    if wanted is None:
        return True
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            return False
        bits = _bits_for(path, wanted, is_executable=bool(mode & stat.S_IXUSR))
        if stat.S_IMODE(mode) != bits:
            os.chmod(path, bits)
    except OSError:
        return False
    return True


def _bits_for(path: Path, wanted: int | None, *, is_executable: bool) -> int:
    """Return what a file is to have: what is wanted, else what the file there has, else what new ones get."""
    if wanted is not None and wanted != USUAL:
        return wanted
    usual = usual_bits(is_executable=is_executable, umask=process_umask())
    try:
        status = os.lstat(path)
    except OSError:
        return usual
    if wanted == USUAL or not stat.S_ISREG(status.st_mode):
        return usual
    bits = stat.S_IMODE(status.st_mode)
    # Executable for whoever may read it.
    return bits | (bits & READ_BITS) >> 2 if is_executable else bits & ~EXECUTE_BITS


def _replace(path: Path, mode: str, data: bytes, wanted_bits: int | None) -> bool:
    """Put content at a path in one step. A leftover of a kill has the same name and is replaced."""
    temporary = path.with_name(f".tori-restore-{blob_name(os.fsencode(path.name))[:12]}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        if mode == LINK_MODE:
            os.symlink(os.fsdecode(data), temporary)
        else:
            is_executable = _is_executable(path) if mode == KEPT_MODE else mode == EXECUTABLE_MODE
            _write_file(temporary, data, _bits_for(path, wanted_bits, is_executable=is_executable))
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        return False
    return True


def _is_executable(path: Path) -> bool:
    try:
        return bool(os.lstat(path).st_mode & stat.S_IXUSR)
    except OSError:
        return False


def _write_file(temporary: Path, data: bytes, bits: int) -> None:
    # Nobody else may read it before it has its permissions.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, stat.S_IRWXU)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), bits)


def _kept(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


# ── the journal ──────────────────────────────────────────────────────────────────────────


def _encoded(journal: Journal) -> bytes:
    steps = [[step.path, _plain(step.now), _plain(step.then), step.bits] for step in journal.steps]
    content = {
        "owner": journal.owner,
        "outputs": journal.outputs,
        "steps": steps,
        "note": dict(journal.note),
    }
    return json.dumps(content).encode()


def _decoded(path: Path) -> Journal | None:
    try:
        content = json.loads(path.read_bytes())
        steps = tuple(Step(p, _entry(now), _entry(then), *bits) for p, now, then, *bits in content["steps"])
        return Journal(content["owner"], content["outputs"], steps, content["note"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _plain(entry: Entry | None) -> list[str] | None:
    return None if entry is None else [entry.mode, entry.name]


def _entry(plain: list[str] | None) -> Entry | None:
    return None if plain is None else Entry(plain[0], plain[1])


def _write_synced(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


__all__ = ["Journal", "begin", "entry_at", "finish_all", "forget", "left_by_kill"]
