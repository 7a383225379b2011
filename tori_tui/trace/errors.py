"""What can go wrong with a trace on disk, told so that the user can act on it.

Must not hold failures of the work tree or of a provider.
"""

from __future__ import annotations

import errno
from typing import Final

from tori_tui.domain.errors import ToriError

NO_ROOM_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Disk full, quota used up, file size limit reached."""


class TraceError(ToriError):
    """A trace cannot be read or written."""


class TraceMissing(TraceError):
    """There is no such trace."""


class TraceAmbiguous(TraceError):
    """Several traces are meant; which ones, the message says."""


class TraceTooNew(TraceError):
    """A record was written by a newer version of the format."""


class TraceLocked(TraceError):
    """Another process writes this trace."""


class TraceDiskFull(TraceError):
    """No room for a record; nothing of it stays in the file, so it can be appended again later."""


class OutputsFull(TraceError):
    """No room for a file in `outputs/`; nothing of it stays."""


class BadLine(TraceError):
    """A line of the trace is no record."""


__all__ = [
    "NO_ROOM_ERRNOS",
    "BadLine",
    "OutputsFull",
    "TraceAmbiguous",
    "TraceDiskFull",
    "TraceError",
    "TraceLocked",
    "TraceMissing",
    "TraceTooNew",
]
