"""What a view shows, line by line, and what of a new result can be left out because it stands there.

Must not change a view; it reads on as the view grows and starts anew after a rewrite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from tori_tui.context.tokens import estimate_tokens
from tori_tui.context.words import Lines, LinesOf, said_text
from tori_tui.domain.events import Pin
from tori_tui.domain.ids import Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message
from tori_tui.domain.state import LoggedMessage
from tori_tui.domain.view import NUMBERED_LIMIT_CHARS, View, ViewEntry

COMPARED_LIMIT_TOKENS: Final = 200
"""Shorter results enter whole (DESIGN §7)."""

MIN_RUN_ROWS: Final = 8
"""A shorter run of known lines is shown again: a gap costs the reader more than it saves."""

POINTED_RECORDS: Final = 16
"""A result points to no more records than this."""

SPANS_LIMIT_CHARS: Final = 100
"""A longer list of gaps is told as a number of lines."""

_SEQ: Final = attrgetter("seq")


def message_at(log: Log[LoggedMessage], seq: Seq) -> LoggedMessage | None:
    """Return what was said with that seq."""
    at = log.first_at(seq, _SEQ)
    return log[at] if at < len(log) and log[at].seq == seq else None


class Sight:
    """The lines that one view shows, and in which records."""

    def __init__(self, lines_of: LinesOf) -> None:
        self.lines_of = lines_of
        self._n_rewrites = -1
        self._n_entries = 0
        self._seen: dict[int, Seq] = {}
        self._pairs: set[int] = set()

    def follow(self, view: View, log: Log[LoggedMessage]) -> None:
        """Take in what the view gained; after a rewrite, the whole view."""
        entries = view.entries
        if view.n_rewrites != self._n_rewrites or len(entries) < self._n_entries:
            self._seen, self._pairs, self._n_entries = {}, set(), 0
            self.lines_of.keep({pin.seq for e in entries for pin in e.pins} | {e.seqs[0] for e in entries})
        for at in range(self._n_entries, len(entries)):
            for seq, lines in self.shown_by(entries[at], log):
                self._seen.update(dict.fromkeys(lines.keys, seq))
                self._pairs.update(lines.pairs)
        self._n_rewrites, self._n_entries = view.n_rewrites, len(entries)

    def shown_by(self, entry: ViewEntry, log: Log[LoggedMessage]) -> Iterator[tuple[Seq, Lines]]:
        """Yield the records of which an entry shows lines, with these; a pointer itself shows none."""
        for pin in shown_parts(entry):
            said = message_at(log, pin.seq)
            if said is None or not (entry.is_fold or _is_numbered(said.message)):
                continue
            yield pin.seq, self.lines_of(pin.seq, said.message).within(pin.first, pin.end)

    def shortened(self, seq: Seq, message: Message, log: Log[LoggedMessage]) -> Message:
        """Return a new result, with what it shows in its place where a part stands in view already."""
        text = message.content
        if not isinstance(text, str) or len(text) <= NUMBERED_LIMIT_CHARS:
            return message
        if estimate_tokens(text) <= COMPARED_LIMIT_TOKENS:
            return message
        rows = text.split("\n")
        left_out, since = self._known_runs(len(rows), self.lines_of(seq, message))
        if not left_out:
            return message
        pointer = _pointer(len(rows), left_out, sorted(since), log)
        gone = {row for run in left_out for row in run}
        kept = [row for at, row in enumerate(rows) if at not in gone]
        return replace(message, shown="\n".join([*kept, pointer]), shown_since=tuple(sorted(since)))

    def _known_runs(self, n_rows: int, lines: Lines) -> tuple[list[range], set[Seq]]:
        """Return the runs of rows that stand in view already, and the records where."""
        runs: list[range] = []
        since: set[Seq] = set()
        if self._seen.keys().isdisjoint(lines.keys):
            return runs, since
        at, rows = 0, lines.rows
        while at < len(rows):
            end, targets = self._run_from(lines, at)
            first = 0 if at == 0 else rows[at - 1] + 1
            last = n_rows if end == len(rows) else rows[end]
            if end > at and last - first >= MIN_RUN_ROWS and len(since | targets) <= POINTED_RECORDS:
                runs.append(range(first, last))
                since |= targets
            at = max(end, at + 1)
        return runs, since

    def _run_from(self, lines: Lines, start: int) -> tuple[int, set[Seq]]:
        """Return where the run of known lines from there ends, and which records show them."""
        targets: set[Seq] = set()
        before: Seq | None = None
        for at in range(start, len(lines.keys)):
            seq = self._seen.get(lines.keys[at])
            # Two lines of one record that do not follow each other there: something was taken out.
            if seq is None or (at > start and seq == before and lines.pairs[at] not in self._pairs):
                return at, targets
            if seq != before:
                targets.add(seq)
            before = seq
        return len(lines.keys), targets

    def shows(self, lines: Lines) -> bool:
        """Whether all of these lines stand in view."""
        return self._seen.keys() >= set(lines.keys)


def _is_numbered(message: Message) -> bool:
    """Whether a pointer can name it; a short result carries no number."""
    return message.role != "tool" or len(message.text) > NUMBERED_LIMIT_CHARS


def shown_parts(entry: ViewEntry) -> list[Pin]:
    """Return which lines of which records an entry shows word for word."""
    if entry.is_fold:
        return list(entry.pins)
    seq, said = entry.seqs[0], entry.said
    text = said_text(said)
    if not entry.is_pointer or said.shown is None:
        if not entry.message.text.startswith(said.text):
            return []
        return [Pin(seq, 0, text.count("\n") + 1)]
    parts: list[Pin] = []
    shown, at = said.shown.split("\n"), 0
    for row, line in enumerate(text.split("\n")):
        if at < len(shown) and shown[at] == line:
            at += 1
            if parts and parts[-1].end == row:
                parts[-1] = Pin(seq, parts[-1].first, row + 1)
            else:
                parts.append(Pin(seq, row, row + 1))
    return parts


def _pointer(n_rows: int, left_out: Sequence[range], since: Sequence[Seq], log: Log[LoggedMessage]) -> str:
    n_left_out = sum(len(run) for run in left_out)
    what = (
        "all lines"
        if n_left_out == n_rows
        else "lines " + ", ".join(f"{r.start + 1}–{r.stop}" for r in left_out)
    )
    if len(what) > SPANS_LIMIT_CHARS:
        what = f"{n_left_out} of {n_rows} lines"
    own = [f"#{seq}" for seq in since if _role(seq, log) == "assistant"]
    others = [f"#{seq}" for seq in since if _role(seq, log) != "assistant"]
    where = [", ".join(others)] if others else []
    where += [f"your own call{'s' if len(own) > 1 else ''} {', '.join(own)}"] if own else []
    return f"[{what} unchanged since {' and '.join(where)}]"


def _role(seq: Seq, log: Log[LoggedMessage]) -> str:
    said = message_at(log, seq)
    return said.message.role if said else "tool"


__all__ = ["Sight", "message_at", "shown_parts"]
