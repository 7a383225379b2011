"""A program in a pseudo-terminal with a stopwatch: when text came, what it cost.

Must not interpret the screen; it looks for text between escape sequences.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_ESCAPES: Final = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")

TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")

PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


READ_BYTES: Final = 65_536

TAIL_BYTES: Final = 2_048
"""A text that is looked for may come in two reads."""


class Watched:
    """One process in a terminal of its own, 120x40."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> None:
        self.started_s = time.monotonic()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.chdir(cwd)
            os.execvpe(arguments[0], list(arguments), dict(environ))
        self._seen = b""

    def send(self, data: bytes) -> None:
        """Type."""
        os.write(self._master, data)

    def wait_for(self, text: str, within_s: float = 60.0) -> float:
        """Return when a text came (monotonic), reading until it does.

        Raises:
            TimeoutError: It did not come.
        """
        wanted = text.encode()
        end = time.monotonic() + within_s
        while True:
            if wanted in _ESCAPES.sub(b"", self._seen):
                self._seen = b""
                return time.monotonic()
            left = end - time.monotonic()
            if left <= 0:
                shown = _ESCAPES.sub(b"", self._seen)[-2_000:].decode(errors="replace")
                raise TimeoutError(f"{text!r} did not come: {shown}")
            if select.select([self._master], [], [], left)[0]:
                # Looking through much text takes long enough to be taken for the program's own time.
                self._seen = self._seen[-TAIL_BYTES:] + os.read(self._master, READ_BYTES)

    def read_for(self, seconds: float) -> None:
        """Let it draw."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._master], [], [], left)[0]:
                self._seen = os.read(self._master, READ_BYTES)

    def wait_for_output(self, within_s: float) -> float | None:
        """Return when it began to draw (monotonic); None where it does not."""
        if not select.select([self._master], [], [], within_s)[0]:
            return None
        return time.monotonic()

    def read_until_quiet(self, quiet_s: float) -> str:
        """Let it draw until nothing comes for that long; return what it drew, as text."""
        drawn = b""
        while select.select([self._master], [], [], quiet_s)[0]:
            drawn += os.read(self._master, READ_BYTES)
        return _ESCAPES.sub(b"", drawn).decode(errors="replace")

    @property
    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    @property
    def memory_mb(self) -> float:
        """Resident memory now."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6

    def stop(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)


__all__ = ["Watched"]
