"""A trace's `messages.jsonl`: appended to by one process, read by anybody, mended after a crash.

Must not interpret events, and must never change a line that is whole.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Protocol, Self

from tori_tui.domain.events import Record
from tori_tui.domain.ids import Seq
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.trace.codec import decode, encode
from tori_tui.trace.errors import (
    NO_ROOM_ERRNOS,
    BadLine,
    TraceDiskFull,
    TraceError,
    TraceLocked,
    TraceMissing,
)
from tori_tui.trace.lines import LineFault, find_tail, save_records

MESSAGES_NAME: Final = "messages.jsonl"
LOCK_NAME: Final = "lock"
BRANCHES_NAME: Final = "branches"
IGNORE_NAME: Final = ".gitignore"

READ_AHEAD: Final = 128
"""Records that are read before the first of them is folded; one by one takes a seventh longer."""

LOCK_TRIES: Final = 3
LOCK_PAUSE_S: Final = 0.01
"""Somebody who asks whether a trace is being written holds its lock for microseconds."""

_sync_file: Final = os.fdatasync if hasattr(os, "fdatasync") else os.fsync


class TraceStore(Protocol):
    """Where the runner puts its records."""

    def append(self, record: Record) -> None:
        """Keep one record, whole or not at all."""
        ...

    async def sync(self) -> None:
        """Return when everything appended so far would survive a power cut."""
        ...

    def close(self) -> None:
        """Give the trace free for another writer."""
        ...


@dataclass(slots=True)
class _Progress:
    """How far the file is good, and how far it is safe."""

    good_bytes: int = 0
    synced_bytes: int = 0
    has_rubbish: bool = False
    """A failed write may have left bytes after the good ones."""


class JsonlTraceStore:
    """One trace directory, opened for writing by this process alone or for reading.

    Attributes:
        directory: The trace's directory.
        n_unknown: Records of kinds that this version does not know, in the newest reading.
        n_syncs: How often the file was synced.
    """

    def __init__(self, directory: Path, descriptor: int, lock: int | None, mended: LineFault | None) -> None:
        """Take over open descriptors; use `open`."""
        self.directory = directory
        self.n_unknown = 0
        self.n_syncs = 0
        self._descriptor = descriptor
        self._lock = lock
        self._mended = mended
        self._faults: list[LineFault] = []
        self._progress = _Progress()
        self._opened_bytes = 0
        self._sync_lock = asyncio.Lock()

    @classmethod
    def open(cls, directory: Path, *, read_only: bool = False) -> Self:
        """Open a trace, making it first where it is to be written and does not exist.

        Opening for writing cuts off a last line that a crash left unfinished; opening for reading
        changes nothing and leaves such a line out.

        Raises:
            TraceLocked: Another process writes it.
            TraceMissing: It is to be read and is not there.
            TraceTooNew: Its first or last record has a newer format.
            TraceError: The directory cannot be used.
        """
        try:
            return cls._open_to_read(directory) if read_only else cls._open_to_write(directory)
        except FileNotFoundError as error:
            if not read_only:
                raise _write_failure(directory, error) from error
            raise TraceMissing(
                f"There is no trace in {directory}.", "`tori list` shows those here."
            ) from error
        except OSError as error:
            raise _write_failure(directory, error) from error

    @classmethod
    def _open_to_read(cls, directory: Path) -> Self:
        descriptor = os.open(directory / MESSAGES_NAME, os.O_RDONLY)
        try:
            tail = find_tail(descriptor)
            store = cls(directory, descriptor, None, tail.fault)
            store._opened_bytes = tail.good_bytes
        except BaseException:
            os.close(descriptor)
            raise
        return store

    @classmethod
    def _open_to_write(cls, directory: Path) -> Self:
        _make_directory(directory)
        lock = _take_lock(directory)
        descriptor = -1
        try:
            path = directory / MESSAGES_NAME
            is_new = not path.exists()
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            if is_new:
                _sync_directory(directory)
                _sync_directory(directory.parent)
            tail = find_tail(descriptor)
            store = cls(directory, descriptor, lock, tail.fault)
            if os.fstat(descriptor).st_size > tail.good_bytes:
                os.ftruncate(descriptor, tail.good_bytes)
            good_bytes = tail.good_bytes
            if tail.lacks_newline:
                good_bytes += os.write(descriptor, b"\n")
            store._opened_bytes = good_bytes
            # What an earlier process wrote may not have reached the disk: not counted as synced.
            store._progress = _Progress(good_bytes, 0)
        except BaseException:
            if descriptor >= 0:
                os.close(descriptor)
            os.close(lock)
            raise
        return store

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be appended."""
        return self._lock is None

    @property
    def faults(self) -> tuple[LineFault, ...]:
        """What was found broken: the last line at opening, others once `records` has passed them."""
        return (*self._faults, *([self._mended] if self._mended else []))

    def records(self) -> Iterator[Record]:
        """Yield, in order, the records that were there at opening; bad lines are left out and noted.

        Raises:
            TraceTooNew: A record has a newer format.
        """
        self._faults = []
        self.n_unknown = 0
        number, left_bytes, last_seq = 0, self._opened_bytes, Seq(0)
        with (self.directory / MESSAGES_NAME).open("rb") as file:
            for line in file:
                if left_bytes <= 0:
                    return
                number += 1
                left_bytes -= len(line)
                try:
                    record = decode(line)
                except BadLine as error:
                    saved, fault = save_records(line, number, error.message, last_seq)
                    self._faults += [fault] if fault else []
                else:
                    saved = (record,) if record is not None else ()
                    self.n_unknown += record is None
                for record in saved:
                    last_seq = record.seq
                    yield record

    def load(self, note: Callable[[Record], None] | None = None) -> SessionState:
        """Fold the records that were there at opening into a state.

        Args:
            note: Called with each record, in order, before it is folded.

        Raises:
            TraceTooNew: A record has a newer format.
        """
        # Records hold no cycles: looking for some meanwhile takes as long as the reading.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            records = _read_ahead(self.records())
            return reduce_all(records if note is None else _noted(records, note))
        finally:
            if was_enabled:
                gc.enable()

    def append(self, record: Record) -> None:
        """Write a record's line at the end of the file, whole or not at all.

        Raises:
            TraceDiskFull: There is no room; the file ends as before and the call can be repeated.
            TraceError: The file cannot be written.
        """
        if self._lock is None:
            raise TraceError(f"The trace in {self.directory} is open for reading only.")
        line = encode(record)
        progress = self._progress
        try:
            if progress.has_rubbish:
                self._cut_rubbish()
            written = os.write(self._descriptor, line)
        except OSError as error:
            self._abandon_write()
            raise _write_failure(self.directory, error) from error
        if written != len(line):
            self._abandon_write()
            raise _disk_full(self.directory, f"only {written} of {len(line)} bytes fitted")
        progress.good_bytes += written

    async def sync(self) -> None:
        """Return when everything appended so far would survive a power cut; one fsync serves all who wait.

        Raises:
            TraceDiskFull: The file system found no room only now.
            TraceError: The disk failed.
        """
        wanted_bytes = self._progress.good_bytes
        if self._progress.synced_bytes >= wanted_bytes:
            return
        async with self._sync_lock:
            if self._progress.synced_bytes >= wanted_bytes:
                return
            covered_bytes = self._progress.good_bytes
            try:
                await asyncio.to_thread(_sync_file, self._descriptor)
            except OSError as error:
                raise _write_failure(self.directory, error) from error
            self.n_syncs += 1
            self._progress.synced_bytes = covered_bytes

    def close(self) -> None:
        """Give the trace free. A second call does nothing."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _abandon_write(self) -> None:
        self._progress.has_rubbish = True
        try:
            self._cut_rubbish()
        except OSError:
            # The next append tries again; a crash before it leaves a torn tail, which opening mends.
            return

    def _cut_rubbish(self) -> None:
        os.ftruncate(self._descriptor, self._progress.good_bytes)
        self._progress.has_rubbish = False


def forget_if_empty(directory: Path) -> None:
    """Remove a trace in which nothing was ever recorded, so that it is not taken for the newest session."""
    try:
        if (directory / MESSAGES_NAME).stat().st_size == 0:
            shutil.rmtree(directory)
    except OSError:
        # It stays, empty; a list shows it as such.
        return


def _read_ahead(records: Iterator[Record]) -> Iterator[Record]:
    while batch := list(islice(records, READ_AHEAD)):
        yield from batch


def _noted(records: Iterator[Record], note: Callable[[Record], None]) -> Iterator[Record]:
    for record in records:
        note(record)
        yield record


def _make_directory(directory: Path) -> None:
    """Make the trace's directory, its parents closed to others and ignored by git."""
    root = directory.parent
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.mkdir(mode=0o700, exist_ok=True)
    ignore = root / IGNORE_NAME
    # A link that a repository brought would lead to a file of the user's.
    if root.name != BRANCHES_NAME and not os.path.lexists(ignore):
        descriptor = os.open(ignore, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.write(descriptor, b"*\n")
        os.close(descriptor)


def _take_lock(directory: Path) -> int:
    lock = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    for tries_left in range(LOCK_TRIES - 1, -1, -1):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError as error:
            if tries_left:
                time.sleep(LOCK_PAUSE_S)
                continue
            holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            os.close(lock)
            raise TraceLocked(
                f"The trace in {directory} is being written by process {holder or 'unknown'}.",
                "End that session, or open the trace read-only (`tori show`, `tori replay`).",
            ) from error
        except OSError:
            # A file system without locks: go on without, as a refusal would make the trace useless.
            return lock
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def is_being_written(directory: Path) -> bool:
    """Say whether a living process has the trace open for writing."""
    try:
        lock = os.open(directory / LOCK_NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_failure(directory: Path, error: OSError) -> TraceError:
    if error.errno in NO_ROOM_ERRNOS:
        return _disk_full(directory, error.strerror or "no room")
    hint = "Choose another place: --trace-dir DIR."
    return TraceError(f"The trace in {directory} cannot be used: {error.strerror}.", hint)


def _disk_full(directory: Path, reason: str) -> TraceDiskFull:
    return TraceDiskFull(
        f"No room for the trace in {directory}: {reason}.",
        "Free some space; the session goes on from its last record, nothing is lost.",
    )


__all__ = [
    "MESSAGES_NAME",
    "JsonlTraceStore",
    "LineFault",
    "TraceStore",
    "forget_if_empty",
    "is_being_written",
]
