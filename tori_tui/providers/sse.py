"""Server-sent events from bytes, however the network cut them.

Must not know what an event means, nor read from a socket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tori_tui.providers.errors import ProviderError

EVENT_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""A line or event larger than this is no reply of a model; it bounds our memory."""

EXCERPT_BYTES: Final = 300

BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event that carries data; comments, `retry:` and empty events are left out."""

    event: str
    data: str


class SseDecoder:
    """Takes bytes, gives whole events. Any cut is fine, also inside a character or a CRLF."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[str] = []
        self._data_bytes = 0
        self._event = ""
        self._follows_cr = False
        self._is_first_line = True
        self._excerpt = b""

    @property
    def excerpt(self) -> str:
        """The first bytes of the stream as text, to show what came instead of events."""
        return self._excerpt.decode("utf-8", "replace").strip()

    @property
    def is_foreign(self) -> bool:
        """Whether the stream begins like HTML or a plain JSON document."""
        return self._excerpt.removeprefix(BOM).lstrip()[:1] in (b"<", b"{", b"[")

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take more bytes and return the events that they complete.

        Raises:
            ProviderError: A single event exceeds the limit.
        """
        if len(self._excerpt) < EXCERPT_BYTES:
            self._excerpt += chunk[: EXCERPT_BYTES - len(self._excerpt)]
        if self._follows_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._follows_cr = False
        if not chunk:
            return []
        self._follows_cr = chunk.endswith(b"\r")
        lines = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[SseEvent] = []
        for line in lines[:-1]:
            self._line += line
            self._take_line(bytes(self._line), events)
            self._line.clear()
        self._line += lines[-1]
        if len(self._line) + self._data_bytes > EVENT_LIMIT_BYTES:
            raise ProviderError(
                f"The server sent a single event of more than {EVENT_LIMIT_BYTES // 2**20} MB.",
                "Check that the address is that of a model server.",
                fault="garbled",
            )
        return events

    def finish(self) -> list[SseEvent]:
        """Return the last event of a stream that ended without a blank line."""
        events: list[SseEvent] = []
        if self._line:
            self._take_line(bytes(self._line), events)
            self._line.clear()
        self._take_line(b"", events)
        return events

    def _take_line(self, raw: bytes, events: list[SseEvent]) -> None:
        if self._is_first_line:
            raw = raw.removeprefix(BOM)
            self._is_first_line = False
        if not raw:
            data, event = "\n".join(self._data), self._event
            self._data, self._data_bytes, self._event = [], 0, ""
            if data:
                events.append(SseEvent(event, data))
            return
        field, _, value = raw.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value.decode("utf-8", "replace"))
            self._data_bytes += len(value)
        elif field == b"event":
            self._event = value.decode("utf-8", "replace")


__all__ = ["EVENT_LIMIT_BYTES", "SseDecoder", "SseEvent"]
