"""Where a command writes: a file, or memory where the disk has no room; and reading it as it grows.

Must not be a pipe: whoever inherits its end could hold up the reader for ever.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final

OUTPUT_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""DESIGN §11: more than this nobody reads, and it fills disks."""

NEEDED_ROOM_BYTES: Final = 1024 * 1024
"""Below this much free space a command writes into memory, so that `df` still works on a full disk."""

_CONTINUATION: Final = bytes(range(0x80, 0xC0))


class CommandOutput:
    """The bytes that a command has written; closed by whoever opened it."""

    def __init__(self, handle: int, path: Path | None, limit_bytes: int = OUTPUT_LIMIT_BYTES) -> None:
        self.handle = handle
        self.path = path
        """The file; None where it is in memory."""
        self.limit_bytes = limit_bytes

    @classmethod
    def open(cls, path: Path | None, limit_bytes: int = OUTPUT_LIMIT_BYTES) -> CommandOutput:
        """Open the file, emptied; memory where it has no room, or where there is no path."""
        handle = _open_with_room(path) if path is not None else None
        if handle is not None:
            return cls(handle, path, limit_bytes)
        return cls(_open_memory(), None, limit_bytes)

    def __enter__(self) -> CommandOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str | None:
        """Name of the file; None where it is in memory."""
        return self.path.name if self.path else None

    @property
    def size_bytes(self) -> int:
        """How much there is now."""
        return os.fstat(self.handle).st_size

    def read(self, start: int, length: int) -> bytes:
        """Return up to that many bytes from an offset on."""
        return os.pread(self.handle, length, start) if length > 0 else b""

    def take_over(self, handle: int) -> bool:
        """Put a file of `open_nameless` in the place of this one; say whether that went.

        The handle is ours then; else it stays the caller's, and nothing has changed.
        """
        if self.path is None:
            return False
        new = self.path.with_name(f".new-{self.path.name}")
        try:
            # Only with a folder's handle does it follow the link to the file itself.
            os.link(f"/proc/self/fd/{handle}", new, src_dir_fd=handle, follow_symlinks=True)
            os.replace(new, self.path)
        except OSError:
            return False
        os.close(self.handle)
        self.handle = handle
        return True

    def cut_to_limit(self) -> None:
        """Give back what was written beyond the limit."""
        if self.size_bytes > self.limit_bytes:
            os.ftruncate(self.handle, self.limit_bytes)

    def close(self) -> None:
        """Close our end; what is in memory is gone then."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


class OutputFollower:
    """Reads what is new, as text, however the bytes were cut."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._position = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def unread_bytes(self) -> int:
        """How much has not been read yet."""
        return max(0, self._output.size_bytes - self._position)

    def read_new(self, limit_bytes: int, *, is_last: bool = False) -> str:
        """Return what came since the last time, at most the newest `limit_bytes` of it.

        Args:
            limit_bytes: What is before is left out, and a line says so.
            is_last: Nothing comes any more: half a character at the end is shown as broken.
        """
        left_out = self.unread_bytes - limit_bytes
        note = ""
        if left_out > 0:
            self._position += left_out
            self._decoder.reset()
            note = f"\n[… {left_out:,} bytes left out]\n"
        data = self._output.read(self._position, limit_bytes)
        self._position += len(data)
        if note:
            data = data[:4].lstrip(_CONTINUATION) + data[4:]
        return note + self._decoder.decode(data, is_last)


def open_nameless(folder: Path) -> int:
    """Return the handle of a new file that is gone with it, unless it is given a name.

    Raises:
        OSError: The file system has no such files, or no room.
    """
    return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _open_with_room(path: Path) -> int | None:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        space = os.fstatvfs(handle)
        if space.f_bavail * space.f_frsize >= NEEDED_ROOM_BYTES:
            # A quota shows only when something is written.
            os.write(handle, b"\n")
            os.ftruncate(handle, 0)
            return handle
    except OSError:
        pass
    os.close(handle)
    path.unlink(missing_ok=True)
    return None


def _open_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tori-output", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


__all__ = ["OUTPUT_LIMIT_BYTES", "CommandOutput", "OutputFollower", "open_nameless"]
