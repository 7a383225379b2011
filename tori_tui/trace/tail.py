"""A trace that may still grow, read on from where the last reading ended.

Must not write anything, and must not hold the file open between two readings.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tori_tui.domain.events import Record
from tori_tui.domain.ids import Seq
from tori_tui.trace.codec import decode
from tori_tui.trace.errors import BadLine, TraceError, TraceMissing
from tori_tui.trace.lines import LineFault, save_records
from tori_tui.trace.store import MESSAGES_NAME

NEWLINE: Final = b"\n"


class TraceTail:
    """The records of a trace as far as they were read.

    Attributes:
        records: In order.
        faults: Lines that could not be read, or not whole.
        n_unfinished_bytes: What stands behind the last line: it is being written, or a crash left it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.records: list[Record] = []
        self.faults: list[LineFault] = []
        self.n_unfinished_bytes = 0
        self._n_bytes = 0
        self._n_lines = 0

    def read(self) -> Sequence[Record]:
        """Read on and return what is new.

        Raises:
            TraceMissing: It is not there (any more).
            TraceTooNew: A record has a newer format.
            TraceError: It cannot be read.
        """
        n_before = len(self.records)
        for line in self._new_lines():
            self._take(line)
        return self.records[n_before:]

    def has_grown(self) -> bool:
        """Say, without reading it, whether there is more; a trace that is gone has not."""
        try:
            return (self.directory / MESSAGES_NAME).stat().st_size > self._n_bytes + self.n_unfinished_bytes
        except OSError:
            return False

    def _new_lines(self) -> Sequence[bytes]:
        try:
            with (self.directory / MESSAGES_NAME).open("rb") as file:
                file.seek(self._n_bytes)
                data = file.read()
        except FileNotFoundError as error:
            hint = "`tori list` shows those here."
            raise TraceMissing(f"There is no trace in {self.directory}.", hint) from error
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise TraceError(f"The trace in {self.directory} cannot be read: {reason}.") from error
        *lines, rest = data.split(NEWLINE)
        if _is_record(rest):
            # Whole, only its newline is missing: an empty line begins what comes next.
            lines.append(rest)
            rest = b""
        self._n_bytes += len(data) - len(rest)
        self.n_unfinished_bytes = len(rest)
        return lines

    def _take(self, line: bytes) -> None:
        self._n_lines += 1
        last_seq = self.records[-1].seq if self.records else Seq(0)
        try:
            record = decode(line)
        except BadLine as error:
            saved, fault = save_records(line, self._n_lines, error.message, last_seq)
            self.records += saved
            self.faults += [fault] if fault is not None else []
        else:
            self.records += [record] if record is not None else []


def _is_record(line: bytes) -> bool:
    try:
        return bool(line) and decode(line) is not None
    except BadLine:
        return False


__all__ = ["TraceTail"]
