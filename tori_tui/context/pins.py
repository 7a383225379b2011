"""Which lines of folded messages stay word for word: by type, heat and novelty, within a token budget.

Must not write a fold's text; it returns which lines of which records.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from tori_tui.context.fold_text import PinnedLines
from tori_tui.context.heat import Heat
from tori_tui.context.sight import Sight, blocks_of, message_at, shown_parts
from tori_tui.context.words import Line, said_text
from tori_tui.domain.events import Pin
from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.state import LoggedMessage
from tori_tui.domain.view import ViewEntry

MIN_NOVELTY: Final = 0.3
"""A block of which fewer telling lines are missing from newer text is not worth its tokens."""

UNTELLING_NOVELTY: Final = 0.5
"""Of a block without any telling line."""

SIZE_EXPONENT: Final = 0.3
"""How much a block's size counts against it: little, for dense blocks are long ones."""

MIN_SIZE_TOKENS: Final = 30
TITLE_TOKENS: Final = 10
MIN_BLOCK_CHARS: Final = 24
CHARS_PER_TOKEN: Final = 3.2
"""For choosing only; the fold's text is counted as a whole."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block that a fold could show."""

    value: float
    tokens: int
    pin: Pin


def candidates(
    entries: Sequence[ViewEntry],
    is_kept: Sequence[bool],
    sight: Sight,
    heat: Heat,
    log: Sequence[LoggedMessage],
    *,
    only_looks: bool = False,
) -> list[Candidate]:
    """Return every block of what is folded that newer text does not repeat, the best first.

    Args:
        entries: The view.
        is_kept: For each entry whether it stays.
        sight: Of the view.
        heat: Of its records.
        log: What was said.
        only_looks: Choose only from results that show what is there, and only what stays nowhere else.
    """
    seen: set[int] = set()
    if only_looks:
        # What stays is all older than what goes.
        kept = (entry for entry, stays in zip(entries, is_kept, strict=True) if stays)
        seen = {line.key for entry in kept for _, lines in sight.shown_by(entry, log) for line in lines}
    found: list[Candidate] = []
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if entry.message.is_users_word:
            continue
        for part in sorted(
            _parts(entry, is_whole=only_looks and not is_kept[at]), key=lambda pin: (-pin.seq, pin.first)
        ):
            said = message_at(log, part.seq)
            if said is None:
                continue
            lines = sight.lines_of(part.seq, said.message)
            if not is_kept[at] and (not only_looks or heat.is_look(part.seq)):
                found += _blocks(part, said.message, lines, seen, heat.of(part.seq))
            if not only_looks or heat.is_look(part.seq):
                seen.update(x.key for x in lines if part.first <= x.row < part.end)
    found.sort(key=lambda candidate: -candidate.value)
    return found


def _parts(entry: ViewEntry, *, is_whole: bool) -> list[Pin]:
    """Return what may be chosen of an entry; where its targets go with it, of a pointer its whole text."""
    if not (is_whole and entry.is_pointer):
        return shown_parts(entry)
    return [Pin(entry.seqs[0], 0, said_text(entry.said).count("\n") + 1)]


def _blocks(
    part: Pin, message: Message, lines: Sequence[Line], seen: set[int], heat: float
) -> Iterable[Candidate]:
    rows = said_text(message).split("\n")
    ends = tuple(accumulate((len(row) + 1 for row in rows), initial=0))
    told_rows, keys = [line.row for line in lines], [line.key for line in lines]
    for block in blocks_of(len(rows)):
        first, end = max(block.start, part.first), min(block.stop, part.end, len(rows))
        if first >= end or (n_chars := ends[end] - ends[first]) < MIN_BLOCK_CHARS:
            continue
        of_block = keys[bisect_left(told_rows, first) : bisect_left(told_rows, end)]
        n_new = len(of_block) - sum(map(seen.__contains__, of_block))
        novelty = n_new / len(of_block) if of_block else UNTELLING_NOVELTY
        if novelty >= MIN_NOVELTY:
            tokens = int(n_chars / CHARS_PER_TOKEN) + 1
            value = heat * novelty / max(tokens, MIN_SIZE_TOKENS) ** SIZE_EXPONENT
            yield Candidate(value, tokens, Pin(part.seq, first, end))


def chosen(
    found: Iterable[Candidate], budget_tokens: int, forced: Iterable[Pin] = ()
) -> dict[Seq, list[Pin]]:
    """Return the best pins that fit, by record; forced ones in any case."""
    pins: dict[Seq, list[Pin]] = {}
    for pin in forced:
        pins.setdefault(pin.seq, []).append(pin)
    is_forced = frozenset(pins)
    room = budget_tokens
    for candidate in found:
        seq = candidate.pin.seq
        cost = candidate.tokens + (0 if seq in pins else TITLE_TOKENS)
        if seq not in is_forced and cost <= room:
            room -= cost
            pins.setdefault(seq, []).append(candidate.pin)
    return {seq: _joined(of_record) for seq, of_record in pins.items()}


def _joined(pins: Iterable[Pin]) -> list[Pin]:
    """Return the pins of one record in order, neighbours as one."""
    joined: list[Pin] = []
    for pin in sorted(pins, key=lambda p: p.first):
        if joined and pin.first <= joined[-1].end:
            joined[-1] = Pin(pin.seq, joined[-1].first, max(pin.end, joined[-1].end))
        else:
            joined.append(pin)
    return joined


def pinned_lines(pins: Sequence[Pin], log: Sequence[LoggedMessage]) -> PinnedLines | None:
    """Return the lines of one record's pins with the record's title."""
    said = message_at(log, pins[0].seq) if pins else None
    if said is None:
        return None
    rows = said_text(said.message).split("\n")
    parts = tuple("\n".join(rows[pin.first : pin.end]) for pin in pins)
    return PinnedLines(_title(said), parts)


def _title(said: LoggedMessage) -> str:
    message = said.message
    if message.role != "tool":
        return f"#{said.seq} {'your reply' if message.role == 'assistant' else 'said'}"
    path = message.details.get("path")
    return f"#{said.seq} {message.name or ''} {path if isinstance(path, str) else ''}".rstrip()


__all__ = ["Candidate", "candidates", "chosen", "pinned_lines"]
