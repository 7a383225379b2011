"""A model server that streams one text at a steady pace and remembers when its last piece went out.

Must not do more than the bench needs: chat completions, one answer.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from types import TracebackType
from typing import Self

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class StreamingServer:
    """Serves on a loopback port, a thread for each connection."""

    def __init__(self, text: str, *, piece_chars: int, every_s: float) -> None:
        self._pieces = [text[i : i + piece_chars] for i in range(0, len(text), piece_chars)]
        self._every_s = every_s
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.last_piece_s = 0.0
        """When the last piece of text was written (monotonic)."""
        self.is_streaming = threading.Event()
        self.is_done = threading.Event()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            self._stream(connection)
        except OSError:
            return  # the bench has seen enough

    def _stream(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as reader:
            length = 0
            while (line := reader.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            reader.read(length)
            connection.sendall(_HEAD)
            self.is_streaming.set()
            due_s = time.monotonic()
            for piece in self._pieces:
                self.last_piece_s = time.monotonic()
                connection.sendall(_chunk({"content": piece}))
                due_s += self._every_s
                time.sleep(max(0.0, due_s - time.monotonic()))
            connection.sendall(_chunk({}, "stop") + b"data: [DONE]\n\n")
            self.is_done.set()


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


__all__ = ["StreamingServer"]
