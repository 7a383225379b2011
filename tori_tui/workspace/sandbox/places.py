"""Tells whether a world that was made a while ago is still the one that would be made now.

A mount goes when its file is replaced or removed outside, and with it what it protects or hides; a mount that
comes outside may come inside, too, and writable. So both are looked at when the world is to be used.

Must not trust what was seen when the world was made: another may have changed things in between.
"""

from __future__ import annotations

import os
import re
import select
import stat
from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from tori_tui.workspace.sandbox.confinement import Place

_MOUNTPOINT, _AFTER_OPTIONAL = 4, 1
"""Fields of a line in proc(5)'s mountinfo: the fifth, and the file system's type behind the lone dash."""

_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")

_NULL_DEVICE: Final = os.makedev(1, 3)


class MountWatch:
    """Notices every mount and unmount in tori's own view of the file system; to be closed.

    Not by the text of mountinfo: what is unmounted and mounted again may get all of its numbers back.

    Raises:
        OSError: This system tells of no mounts.
    """

    def __init__(self) -> None:
        self._handle = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._handle, select.POLLPRI | select.POLLERR)

    def has_changed(self) -> bool:
        """Say whether there was any since this watch began."""
        return bool(self._poll.poll(0))

    def close(self) -> None:
        """Notice nothing any more."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def stands_as_told(pid: int, places: Iterable[Place], cwd: str) -> bool:
    """Say whether a process sees each place as a new world would show it, and stands in that folder.

    Args:
        pid: A process in the world.
        places: All that the world mounts on.
        cwd: Its working directory.
    """
    try:
        types = _mounted(pid)
        return _is_same(f"/proc/{pid}/cwd", cwd) and all(_stands(pid, place, types) for place in places)
    except OSError:
        return False


def _stands(pid: int, place: Place, types: Mapping[str, str]) -> bool:
    # A link leads the mount to another place than its own; that may have changed since.
    real = os.path.realpath(place.path)
    inside = f"/proc/{pid}/root{real}"
    if real not in types:
        return False
    match place.shows:
        case "itself":
            return _is_same(inside, real)
        case "itself, read-only":
            return _is_same(inside, real) and bool(os.statvfs(inside).f_flag & os.ST_RDONLY)
        case "no content":
            return os.stat(inside).st_rdev == _NULL_DEVICE
        case "an empty folder":
            return types[real] == "tmpfs" and stat.S_ISDIR(os.stat(inside).st_mode)
        case _:
            assert_never(place.shows)


def _is_same(one: str, other: str) -> bool:
    return os.path.samestat(os.stat(one), os.stat(other))


def _mounted(pid: int) -> dict[str, str]:
    """Return where a process sees something mounted, with the type of the topmost file system."""
    with open(f"/proc/{pid}/mountinfo", "rb") as file:
        lines = file.read().splitlines()
    types: dict[str, str] = {}
    for line in lines:
        fields = line.split(b" ")
        path = _ESCAPED.sub(lambda escaped: bytes([int(escaped[1], 8)]), fields[_MOUNTPOINT])
        types[os.fsdecode(path)] = fields[fields.index(b"-") + _AFTER_OPTIONAL].decode()
    return types


__all__ = ["MountWatch", "stands_as_told"]
