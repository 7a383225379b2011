"""Tells whether a world that was made a while ago is still the one that would be made now.

Must not be asked about what lies within the places: a mount shows that as it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final

_MOUNTS: Final = "/proc/self/mountinfo"


class Places:
    """The files and folders on which a world's mounts stand, as they are now; to be closed.

    A mount goes when its file is replaced or removed outside, and with it what it protects or hides; a mount
    that comes outside comes inside, too. Each place is held open: no other file gets its inode meanwhile.

    Args:
        paths: Absolute; links in their last part are places themselves.

    Raises:
        OSError: One cannot be looked at; nothing is held.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._held: dict[str, int] = {}
        self._facts: dict[str, tuple[int, int, int]] = {}
        try:
            self._mounts = _mounts()
            for path in dict.fromkeys(paths):
                self._held[path] = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
                self._facts[path] = _facts(os.fstat(self._held[path]))
        except BaseException:
            self.close()
            raise

    def are_unchanged(self) -> bool:
        """Return whether each is the same file as before, and the system has the same mounts."""
        try:
            return self._mounts == _mounts() and all(
                _facts(os.lstat(path)) == facts for path, facts in self._facts.items()
            )
        except OSError:
            return False

    def close(self) -> None:
        """Hold nothing any more."""
        for handle in self._held.values():
            os.close(handle)
        self._held.clear()


def _facts(status: os.stat_result) -> tuple[int, int, int]:
    # A file may be unlinked, its mount gone, and linked again: that changes its time. A folder cannot;
    # its time changes with each file that comes into it.
    changed_ns = 0 if stat.S_ISDIR(status.st_mode) else status.st_ctime_ns
    return status.st_dev, status.st_ino, changed_ns


def _mounts() -> bytes:
    with open(_MOUNTS, "rb") as file:
        return file.read()


__all__ = ["Places"]
