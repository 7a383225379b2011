"""A real `redis-server` of a test's own, on a socket in its own directory, that can die and come back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTS_WITHIN_S = 20.0


class RedisServer:
    """Keeps what it acknowledged through a kill: it appends and syncs before it answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        return self._folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket_path}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *("redis-server", "--port", "0", "--unixsocket", str(self.socket_path), "--save", ""),
                *("--appendonly", "yes", "--appendfsync", "always", "--dir", str(self._folder)),
                *("--logfile", str(self._folder / "log")),
            ],
            stdin=subprocess.DEVNULL,
        )
        deadline_s = time.monotonic() + STARTS_WITHIN_S
        while not self._answers():
            assert time.monotonic() < deadline_s, (self._folder / "log").read_text()
            time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.socket_path))
                client.sendall(b"PING\r\n")
                return client.recv(5) == b"+PONG"
        except OSError:
            return False


@contextmanager
def running_redis() -> Iterator[RedisServer]:
    # The path of a socket may have no more than 107 bytes; pytest's own directories are longer.
    with tempfile.TemporaryDirectory(prefix="tori-redis-") as folder:
        server = RedisServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.kill()
