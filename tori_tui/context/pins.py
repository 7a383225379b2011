"""Which lines of folded messages stay word for word: by type, heat and novelty, within a token budget.

Must not write a fold's text; it returns which lines of which records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.context.fold_text import PinnedLines
from tori_tui.context.heat import Heat
from tori_tui.context.sight import Sight, message_at, shown_parts
from tori_tui.context.words import BLOCK_LINES, Lines, said_text
from tori_tui.domain.events import Pin
from tori_tui.domain.ids import Seq
from tori_tui.domain.log import Log
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
    log: Log[LoggedMessage],
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
        seen = {key for entry in kept for _, lines in sight.shown_by(entry, log) for key in lines.keys}
    texts: dict[Seq, Lines | None] = {}
    found: list[Candidate] = []
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if entry.message.is_users_word:
            continue
        for part in sorted(
            _parts(entry, is_whole=only_looks and not is_kept[at]), key=lambda pin: (-pin.seq, pin.first)
        ):
            if part.seq not in texts:
                texts[part.seq] = _read(part.seq, sight, log)
            text = texts[part.seq]
            if text is None or (only_looks and not heat.is_look(part.seq)):
                continue
            if not is_kept[at]:
                found += _blocks(part, text, seen, heat.of(part.seq))
            seen.update(text.keys_in(part.first, part.end))
    found.sort(key=lambda candidate: -candidate.value)
    return found


def _read(seq: Seq, sight: Sight, log: Log[LoggedMessage]) -> Lines | None:
    said = message_at(log, seq)
    return None if said is None else sight.lines_of(seq, said.message)


def _parts(entry: ViewEntry, *, is_whole: bool) -> list[Pin]:
    """Return what may be chosen of an entry; where its targets go with it, of a pointer its whole text."""
    if not (is_whole and entry.is_pointer):
        return shown_parts(entry)
    return [Pin(entry.seqs[0], 0, said_text(entry.said).count("\n") + 1)]


def _blocks(part: Pin, text: Lines, seen: set[int], heat: float) -> Iterable[Candidate]:
    n_rows = len(text.ends) - 1
    for start in range(part.first - part.first % BLOCK_LINES, min(part.end, n_rows), BLOCK_LINES):
        first, end = max(start, part.first), min(start + BLOCK_LINES, part.end, n_rows)
        n_chars = text.ends[end] - text.ends[first] + end - first
        if n_chars < MIN_BLOCK_CHARS:
            continue
        of_block = text.keys_in(first, end)
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


def pinned_lines(pins: Sequence[Pin], log: Log[LoggedMessage]) -> PinnedLines | None:
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
