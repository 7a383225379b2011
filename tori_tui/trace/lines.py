"""Lines of a trace as a crash may have left them: what can be saved of each, and where the good ones end.

Must not write anything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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


FAULTS_TOLD: Final = 5
"""Who has more of them has a damaged disk, and reads no list of lines."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line that was not what a trace holds, and what became of it."""

    line: int
    """Counted from 1."""
    reason: str


def told_faults(faults: Sequence[LineFault]) -> list[str]:
    """Return the first of them as lines for a reader, and how many more there are."""
    told = [f"line {fault.line}: {fault.reason}" for fault in faults[:FAULTS_TOLD]]
    n_more = len(faults) - len(told)
    return [*told, f"{n_more:,} more lines could not be read"] if n_more > 0 else told


@dataclass(frozen=True, slots=True)
class Tail:
    """Where the good part of a file ends."""

    good_bytes: int
    lacks_newline: bool = False
    """The last line is good, only its newline is missing."""
    fault: LineFault | None = None


def save_records(
    line: bytes, number: int, reason: str, last_seq: Seq
) -> tuple[tuple[Record, ...], LineFault | None]:
    """Look for whole records in a broken line: after padding, after a torn one, with invalid UTF-8.

    Args:
        line: With or without its newline.
        number: Of the line, from 1.
        reason: Why it is no record.
        last_seq: Of the record before; what is saved must come after it.

    Returns:
        What could be saved, and the note for the user; no note for an empty line.
    """
    if not line.strip():
        return (), None
    starts = _starts(line)
    records: list[Record] = []
    end = 0
    for start, following in pairwise((*starts, len(line))):
        if start < end:
            continue
        for stop in dict.fromkeys((following, len(line))):
            record = _lenient(line[start:stop])
            if record is not None and record.seq > last_seq:
                records.append(record)
                last_seq, end = record.seq, stop
                break
    outcome = f"{len(records)} record(s) in it saved" if records else "left out"
    return tuple(records), LineFault(number, f"{reason}; {outcome}")


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


def find_tail(descriptor: int) -> Tail:
    """Find where the good lines of a file end; padding and an unfinished last line come after.

    Raises:
        TraceTooNew: The first or last line has a newer format version.
    """
    size_bytes = os.fstat(descriptor).st_size
    _holds_record(os.pread(descriptor, BLOCK_BYTES, 0).partition(b"\n")[0])
    good_bytes = _without_padding(descriptor, size_bytes)
    line_start = _line_start(descriptor, good_bytes)
    if line_start < good_bytes:
        if _holds_record(os.pread(descriptor, good_bytes - line_start, line_start)):
            return Tail(good_bytes, lacks_newline=True)
        reason = f"unfinished, its {good_bytes - line_start} bytes cut off"
        return Tail(line_start, fault=_tail_fault(descriptor, line_start, reason))
    last_start = _line_start(descriptor, max(0, good_bytes - 1))
    _holds_record(os.pread(descriptor, good_bytes - last_start, last_start))
    if good_bytes == size_bytes:
        return Tail(good_bytes)
    return Tail(good_bytes, fault=_tail_fault(descriptor, good_bytes, "NUL bytes at the end, cut off"))


def _holds_record(line: bytes) -> bool:
    try:
        decode(line)
    except BadLine as error:
        return bool(save_records(line, 1, error.message, Seq(0))[0])
    return True


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


__all__ = ["LineFault", "Tail", "find_tail", "save_records", "told_faults"]
