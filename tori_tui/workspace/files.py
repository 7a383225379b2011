"""Whole files: their bytes, their hashes, and replacing them so that nothing is ever half written.

Must not know what the bytes mean, nor which paths are allowed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError

NEW_FILE_MODE: Final = 0o666
"""Before the umask, as every program makes its files."""

WRITE_PIECE_BYTES: Final = 1 << 20


class FileUnusable(ToriError):
    """A file that cannot be read or written as one: special, read-only, or the system refused."""


def sha256_of(path: Path) -> str | None:
    """Return the content hash of a regular file; None where there is none."""
    try:
        with open_regular(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def digest(data: bytes) -> str:
    """Return the content hash of bytes."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def open_regular(path: Path, *, is_real: bool = False) -> Iterator[int]:
    """Open a regular file for reading and give its descriptor; never opens a pipe or a device.

    Args:
        path: The file.
        is_real: The path was resolved and found allowed; what it leads to by now must be that place.

    Raises:
        FileNotFoundError: There is no such file.
        FileUnusable: It is something else than a regular file, or a link came on the way meanwhile.
        OSError: The system refused.
    """
    _check_regular(path, os.stat(path))
    # Between the look and the opening it may have become a pipe: O_NONBLOCK, and look again.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check_regular(path, os.fstat(descriptor))
        if is_real:
            _check_place(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def read_bytes(path: Path, *, is_real: bool = False) -> bytes | None:
    """Return a regular file's bytes; None where there is no file.

    Args:
        path: The file.
        is_real: As for `open_regular`.

    Raises:
        FileUnusable: It is something else than a regular file, or the system refused.
    """
    try:
        with (
            open_regular(path, is_real=is_real) as descriptor,
            os.fdopen(os.dup(descriptor), "rb") as file,
        ):
            return file.read()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise FileUnusable(f"{path}: a part of the path is a file.", "Use another path.") from None
    except OSError as error:
        raise FileUnusable(f"{path}: {error.strerror}.", "Use another file.") from None


def atomic_write(path: Path, data: bytes, *, is_real: bool = False) -> None:
    """Replace or create a file so that at any moment it holds all of the old or all of the new.

    Links are followed; missing folders are made. Mode bits, extended attributes and (where the system
    lets us) the owner of an existing file are kept. A file with several hard links gets an inode of its
    own: its other names keep the old content, because writing through them could not be atomic.

    Args:
        path: The file.
        data: All that it shall hold.
        is_real: As for `open_regular`.

    Raises:
        FileUnusable: The file is special or read-only, or the system refused (a full disk, say); then
            nothing has changed and no temporary file is left.
    """
    target = path if is_real else Path(os.path.realpath(path))
    try:
        before = os.stat(target) if target.exists() else None
        if before is not None:
            _check_regular(target, before)
            _check_writable(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data, before, is_real=is_real)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise FileUnusable(
            f"{path} could not be written: {reason}. It holds what it held before.",
            "Make room or choose another place, then write again.",
        ) from error


def _check_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
    raise FileUnusable(f"{path} is {kind}, not a regular file.", "Use a regular file.")


def _check_place(descriptor: int, path: Path) -> None:
    """Make sure that an open file lies where its path says: no folder on the way became a link meanwhile."""
    try:
        place = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # only Linux tells
        return
    # Some file systems do not tell cases apart.
    if place.casefold() != str(path).casefold():
        raise FileUnusable(f"{path} leads to {place} now.", "Look what changed it meanwhile.")


def _check_writable(path: Path) -> None:
    is_read_only = not os.stat(path).st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if is_read_only or not os.access(path, os.W_OK):
        raise FileUnusable(
            f"{path} is read-only.", f"If it should change, make it writable first: chmod u+w {path}"
        )


def _replace(target: Path, data: bytes, before: os.stat_result | None, *, is_real: bool) -> None:
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if is_real:
            _check_place(folder, target.parent)
        temporary = _written_beside(target, folder, data, before)
        try:
            os.rename(temporary, target.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(temporary, dir_fd=folder)
            raise
        with suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


def _written_beside(target: Path, folder: int, data: bytes, before: os.stat_result | None) -> str:
    """Write the bytes to a synced temporary file in the folder and return its name.

    Where the system can, the file has no name until it is whole, so that even a kill leaves nothing behind.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # no such files there, or no /proc to name them by
            descriptor = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, NEW_FILE_MODE, dir_fd=folder)
            try:
                _fill(descriptor, data, target, before)
                return _with_free_name(partial(_give_name, descriptor, folder))
            finally:
                os.close(descriptor)
    name = _with_free_name(partial(_create, folder))
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            _fill(descriptor, data, target, before)
        finally:
            os.close(descriptor)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    return name


def _create(folder: int, name: str) -> None:
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_FILE_MODE, dir_fd=folder))


def _give_name(descriptor: int, folder: int, name: str) -> None:
    os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=folder, dst_dir_fd=folder)


def _with_free_name(make: Callable[[str], None]) -> str:
    for number in count(1):
        name = f".tori-{os.getpid()}-{number}.tmp"
        with suppress(FileExistsError):
            make(name)
            return name
    raise AssertionError("count() never ends")


def _fill(descriptor: int, data: bytes, target: Path, before: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:WRITE_PIECE_BYTES]) :]
    if before is not None:
        _keep_attributes(descriptor, target, before)
    os.fsync(descriptor)


def _keep_attributes(descriptor: int, target: Path, before: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    if sys.platform == "linux":
        with suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    # After the owner: changing that clears the set-user-id bits.
    with suppress(OSError):  # a file system without modes
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


__all__ = ["FileUnusable", "atomic_write", "digest", "open_regular", "read_bytes", "sha256_of"]
