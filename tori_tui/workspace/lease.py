"""One lease for each work tree, so that a second session in it can be told of the first.

Must not keep anybody out: changes of another session are treated like the user's.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.domain.ids import TraceId

LEASES_NAME: Final = "leases"

NOTE_LIMIT_BYTES: Final = 512
"""A trace id and a process id; more in the file is not ours."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The session that holds a lease."""

    trace_id: TraceId
    pid: int

    def __str__(self) -> str:
        return f"{self.trace_id} (process {self.pid})"


@dataclass(slots=True)
class Lease:
    """A session's claim on a work tree: held, or waiting behind another session's."""

    trace_id: TraceId
    _descriptor: int
    """-1: the state folder cannot be written, or the lease was given back."""
    _is_held: bool = False

    @classmethod
    def take(cls, root: Path, trace_id: TraceId, state_dir: Path) -> Lease:
        """Claim a work tree; never fails, as it only informs.

        Args:
            root: The work tree's root.
            trace_id: The trace of this session.
            state_dir: `$XDG_STATE_HOME/tori`.
        """
        digest = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]
        folder = state_dir / LEASES_NAME
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(folder / digest, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return cls(trace_id, -1)
        lease = cls(trace_id, descriptor)
        lease._claim()
        return lease

    @property
    def holder(self) -> Holder | None:
        """The other living session that holds the lease; None where this one does or nobody can tell.

        A lease that was given back meanwhile is taken over.
        """
        if self._descriptor < 0 or self._is_held or self._claim():
            return None
        note = os.pread(self._descriptor, NOTE_LIMIT_BYTES, 0).decode("utf-8", "replace").split()
        if len(note) != 2 or not note[1].isdecimal():
            return Holder(TraceId("unknown"), 0)
        return Holder(TraceId(note[0]), int(note[1]))

    def release(self) -> None:
        """Give the lease back. A second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._is_held = -1, False

    def _claim(self) -> bool:
        """Try to get the lock; whether no other session has it."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # A file system without locks cannot tell of others.
            return True
        self._is_held = True
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{self.trace_id} {os.getpid()}\n".encode(), 0)
        except OSError:
            # A full disk: the lock counts, the name is only missing for the others.
            return True
        return True


__all__ = ["Holder", "Lease"]
