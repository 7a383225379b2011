"""The real program in a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_ESCAPES = re.compile(
    rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>]"
)

READY = "What is to be done?"

START_WITHIN_S = 40.0
"""Generous: other work may share the machine."""


class PtyApp:
    def __init__(self, pid: int, master: int) -> None:
        self.pid = pid
        self.master = master
        self.raw = b""
        self.code: int | None = None

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def read(self, seconds: float) -> bytes:
        end = time.monotonic() + seconds
        got = b""
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                break
            try:
                data = os.read(self.master, 65_536)
            except OSError:
                break
            if not data:
                break
            got += data
        self.raw += got
        return got

    def wait_for(self, text: str, within_s: float = START_WITHIN_S) -> None:
        end = time.monotonic() + within_s
        while text not in self.text:
            assert time.monotonic() < end, f"{text!r} did not come; the end was: {self.text[-2_000:]}"
            self.read(0.05)

    @property
    def text(self) -> str:
        return _ESCAPES.sub(b"", self.raw).decode(errors="replace")

    def forget(self) -> None:
        self.raw = b""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def has_echo(self) -> bool:
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self, within_s: float = 20.0) -> int:
        end = time.monotonic() + within_s
        while self.code is None:
            assert time.monotonic() < end, f"it did not end; the end was: {self.text[-2_000:]}"
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextmanager
def app_in_pty(
    arguments: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    size: tuple[int, int] = (120, 40),
) -> Iterator[PtyApp]:
    code = "import sys; from tori_tui.cli.entry import main; main()"
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        os.chdir(cwd)
        own = {"TERM": "xterm-256color", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        os.execve(
            sys.executable, [sys.executable, "-c", code, *arguments], {**os.environ, **own, **(environ or {})}
        )
    app = PtyApp(pid, master)
    try:
        yield app
    finally:
        if app.code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(master)


__all__ = ["READY", "PtyApp", "app_in_pty"]
