"""Lines of a trace as a crash may have left them: what can be saved of each, and where the good ones end.

Must not write anything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from tori_tui.domain.events import Record
from tori_tui.domain.ids import Seq
from tori_tui.trace.codec import decode
from tori_tui.trace.errors import BadLine

BLOCK_BYTES: Final = 65_536
"""Read at a time from the end; most lines are shorter."""

RECORD_START: Final = b'{"v":'
"""Every record begins like this; in the text of another its quotes are escaped."""

PIECES_LIMIT: Final = 64
"""Beginnings tried in one broken line, so that rubbish costs a bounded time."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line that was not what a trace holds, and what became of it."""

    line: int
    """Counted from 1."""
    reason: str


@dataclass(frozen=True, slots=True)
class LineReading:
    """What a line held."""

    records: tuple[Record, ...] = ()
    fault: LineFault | None = None
    n_unknown: int = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """Where the good part of a file ends."""

    good_bytes: int
    lacks_newline: bool = False
    """The last line is good, only its newline is missing."""
    fault: LineFault | None = None


def read_line(line: bytes, number: int, last_seq: Seq) -> LineReading:
    """Return the records of a line; of a broken one, those that can be told for sure.

    Args:
        line: With or without its newline.
        number: For the fault.
        last_seq: Of the record before; what is saved from a broken line must come after it.

    Raises:
        TraceTooNew: The line has a newer format version.
    """
    try:
        record = decode(line)
    except BadLine as error:
        return _saved(line, LineFault(number, error.message), last_seq)
    return LineReading(n_unknown=1) if record is None else LineReading((record,))


def _saved(line: bytes, fault: LineFault, last_seq: Seq) -> LineReading:
    """Look for whole records in a broken line: after padding, after a torn one, with invalid UTF-8."""
    if not line.strip(b"\0 \t\r\n"):
        has_padding = b"\0" in line
        return LineReading(fault=LineFault(fault.line, "only NUL bytes, left out") if has_padding else None)
    starts = _starts(line)
    records: list[Record] = []
    end = 0
    for start, following in zip(starts, (*starts[1:], len(line)), strict=True):
        if start < end:
            continue
        for stop in dict.fromkeys((following, len(line))):
            record = _lenient(line[start:stop])
            if record is not None and record.seq > last_seq:
                records.append(record)
                last_seq, end = record.seq, stop
                break
    outcome = f"{len(records)} record(s) in it saved" if records else "left out"
    return LineReading(tuple(records), LineFault(fault.line, f"{fault.reason}; {outcome}"))


def _starts(line: bytes) -> list[int]:
    starts: list[int] = []
    at = line.find(RECORD_START)
    while at >= 0 and len(starts) < PIECES_LIMIT:
        starts.append(at)
        at = line.find(RECORD_START, at + 1)
    return starts


def _lenient(piece: bytes) -> Record | None:
    text = piece.replace(b"\0", b"").decode("utf-8", "replace")
    try:
        return decode(text.encode())
    except BadLine:
        return None


def tail_start(descriptor: int) -> Tail:
    """Find where the good lines of a file end; padding and an unfinished last line come after.

    Raises:
        TraceTooNew: The first or last line has a newer format version.
    """
    size_bytes = os.fstat(descriptor).st_size
    head = os.pread(descriptor, BLOCK_BYTES, 0)
    if b"\n" in head:
        read_line(head[: head.index(b"\n")], 1, Seq(0))
    good_bytes = _without_padding(descriptor, size_bytes)
    line_start = _line_start(descriptor, good_bytes)
    if line_start == good_bytes:
        if good_bytes:
            last_start = _line_start(descriptor, good_bytes - 1)
            read_line(os.pread(descriptor, good_bytes - last_start, last_start), 1, Seq(0))
        is_padded = good_bytes < size_bytes
        fault = _tail_fault(descriptor, good_bytes, "NUL bytes at the end, cut off") if is_padded else None
        return Tail(good_bytes, fault=fault)
    reading = read_line(os.pread(descriptor, good_bytes - line_start, line_start), 1, Seq(0))
    if reading.records or reading.n_unknown:
        return Tail(good_bytes, lacks_newline=True)
    reason = f"unfinished, its {good_bytes - line_start} bytes cut off"
    return Tail(line_start, fault=_tail_fault(descriptor, line_start, reason))


def _tail_fault(descriptor: int, good_bytes: int, reason: str) -> LineFault:
    n_lines = sum(
        os.pread(descriptor, min(BLOCK_BYTES, good_bytes - at), at).count(b"\n")
        for at in range(0, good_bytes, BLOCK_BYTES)
    )
    return LineFault(n_lines + 1, reason)


def _without_padding(descriptor: int, end: int) -> int:
    while end > 0:
        start = max(0, end - BLOCK_BYTES)
        kept = os.pread(descriptor, end - start, start).rstrip(b"\0")
        if kept:
            return start + len(kept)
        end = start
    return 0


def _line_start(descriptor: int, end: int) -> int:
    """Return where the line begins that ends before `end`; `end` itself after a newline."""
    while end > 0:
        start = max(0, end - BLOCK_BYTES)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


__all__ = ["LineFault", "LineReading", "Tail", "read_line", "tail_start"]
