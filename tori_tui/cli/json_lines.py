"""`--json`: one event a line on standard output, durable ones byte for byte as the trace has them.

Must not leave a durable event out, whatever the reader's speed.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from tori_tui.cli import streams
from tori_tui.cli.front import ShownSession
from tori_tui.domain.events import ApprovalChanged, NoticeShown, Record, TransientEvent
from tori_tui.domain.state import FIRST_SEQ, SessionState
from tori_tui.runtime.bus import BusItem, Published, Resync
from tori_tui.trace.codec import encode
from tori_tui.trace.migrate import FORMAT_VERSION
from tori_tui.trace.store import JsonlTraceStore

_STEERING: Final = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What JSON leaves as it is and a terminal obeys; written as an escape it is the same text."""


class JsonLines:
    """Prints every event of a session as JSON."""

    def __init__(self) -> None:
        self._directory: Path | None = None
        self._next_seq = FIRST_SEQ
        self._encoder = msgspec.json.Encoder()

    def begin(self, session: ShownSession, notices: tuple[str, ...]) -> None:
        """Show the notices as events."""
        self._directory = session.directory
        self._next_seq = session.state.next_seq
        for text in notices:
            self.show(NoticeShown(text))

    def show(self, item: BusItem) -> None:
        """Print one event."""
        match item:
            case Published(record=record):
                self._print_records((record,))
            case Resync(state=state):
                self._print_records(self._missed(state))
            case _:
                self._write(self._encoder.encode(_plain(item)))

    def finish(self, state: SessionState, denied: tuple[ApprovalChanged, ...]) -> None:
        """Say nothing: the events have said everything."""

    def _print_records(self, records: Iterator[Record] | tuple[Record, ...]) -> None:
        for record in records:
            if record.seq >= self._next_seq:
                self._write(encode(record).rstrip(b"\n"))
                self._next_seq = type(record.seq)(record.seq + 1)

    def _missed(self, state: SessionState) -> Iterator[Record]:
        """Yield, from the trace, the records that the queue dropped."""
        if self._directory is None:
            return
        store = JsonlTraceStore.open(self._directory, read_only=True)
        try:
            yield from (r for r in store.records() if self._next_seq <= r.seq < state.next_seq)
        finally:
            store.close()

    def _write(self, line: bytes) -> None:
        if sys.stdout.isatty():
            line = _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", line.decode()).encode()
        streams.write_out_bytes(line + b"\n")


def _plain(event: TransientEvent) -> dict[str, object]:
    fields = {name: _encodable(value) for name, value in dataclasses.asdict(event).items()}
    return {"v": FORMAT_VERSION, "kind": event.kind, **fields}


def _encodable(value: object) -> object:
    """Halves of characters cannot be written as UTF-8; the durable record has them replaced too."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


__all__ = ["JsonLines"]
