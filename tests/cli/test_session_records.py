from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tori_tui.cli.session_records import SessionRecords
from tori_tui.domain.events import Record, RunStatusChanged
from tori_tui.domain.ids import Seq

AT = datetime(2026, 1, 1, tzinfo=UTC)
SAVED = tuple(Record(Seq(number), AT, RunStatusChanged("done")) for number in range(1, 6))


class Reading:
    def __init__(self) -> None:
        self.n_times = 0

    def __call__(self, directory: Path) -> tuple[Record, ...]:
        self.n_times += 1
        return SAVED


def test_what_opening_has_read_is_not_read_again() -> None:
    read = Reading()
    records = SessionRecords(read)
    for record in SAVED:
        records.note(record)
    assert list(records.before(Path(), Seq(6))) == list(SAVED)
    assert read.n_times == 0


def test_what_came_after_opening_is_read() -> None:
    read = Reading()
    records = SessionRecords(read)
    records.note(SAVED[0])
    assert list(records.before(Path(), Seq(4))) == list(SAVED[:3])
    assert read.n_times == 1


def test_after_a_lag_the_trace_is_read_anew() -> None:
    read = Reading()
    records = SessionRecords(read)
    for record in SAVED:
        records.note(record)
    records.before(Path(), Seq(6))
    assert list(records.before(Path(), Seq(6))) == list(SAVED)
    assert read.n_times == 1
