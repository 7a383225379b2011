"""What differs between two versions of a file, as a unified diff.

Must not draw; the screen colours it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tori_tui.workspace.encoding import decode, is_binary
from tori_tui.workspace.likeness import opcodes

CONTEXT_LINES: Final = 3
DIFF_LIMIT_CHARS: Final = 20_000

COMPARED_LIMIT_PAIRS: Final = 50_000_000
"""Lines times lines: 6 MB of memory and under 0.1 s; above it the whole middle counts as replaced."""

_Mark = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff and its counts of lines."""

    text: str
    """At most `DIFF_LIMIT_CHARS`, with a word on what is left out."""
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class _Row:
    mark: _Mark
    text: str
    before: int
    after: int
    """Lines that stand before this one in the old and in the new version."""


def diff_of(path: str, before: bytes | None, after: bytes) -> Diff:
    """Return the difference; `before` is None where the file is new."""
    if is_binary(before or b"") or is_binary(after):
        return Diff(f"Binary file {path}: {len(before or b''):,} → {len(after):,} bytes", 0, 0)
    rows = _rows(_lines(before or b""), _lines(after))
    added = sum(row.mark == "+" for row in rows)
    removed = sum(row.mark == "-" for row in rows)
    if not added and not removed:
        return Diff("", 0, 0)
    head = [f"--- {'a/' + path if before is not None else '/dev/null'}", f"+++ b/{path}"]
    text = "\n".join([*head, *(line for hunk in _hunks(rows) for line in _written(hunk))])
    if len(text) > DIFF_LIMIT_CHARS:
        shown = text[:DIFF_LIMIT_CHARS].rpartition("\n")[0]
        text = f"{shown}\n… {text.count(chr(10)) - shown.count(chr(10)):,} more lines of the diff"
    return Diff(text, added, removed)


def _lines(data: bytes) -> list[str]:
    *whole, last = decode(data).text.split("\n")
    lines = [line + "\n" for line in whole]
    return [*lines, last] if last else lines


def _rows(before: Sequence[str], after: Sequence[str]) -> list[_Row]:
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    first = max(0, head - CONTEXT_LINES)
    rows = [_Row(" ", before[n], n, n) for n in range(first, head)]
    for tag, old_start, old_end, new_start, new_end in _blocks(old, new):
        if tag == "equal":
            pairs = zip(range(old_start, old_end), range(new_start, new_end), strict=True)
            rows += [_Row(" ", old[a], head + a, head + b) for a, b in pairs]
            continue
        rows += [_Row("-", old[a], head + a, head + new_start) for a in range(old_start, old_end)]
        rows += [_Row("+", new[b], head + old_end, head + b) for b in range(new_start, new_end)]
    old_tail, new_tail = len(before) - tail, len(after) - tail
    rows += [
        _Row(" ", before[old_tail + n], old_tail + n, new_tail + n) for n in range(min(tail, CONTEXT_LINES))
    ]
    return rows


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[str, int, int, int, int]]:
    """Yield `equal` and `replace` blocks in order, so that removals stand before additions."""
    if len(old) * len(new) > COMPARED_LIMIT_PAIRS:
        yield ("replace", 0, len(old), 0, len(new))
        return
    at_old = at_new = 0
    for code in opcodes(old, new):
        if code.tag != "equal":
            continue
        if (at_old, at_new) != (code.src_start, code.dest_start):
            yield ("replace", at_old, code.src_start, at_new, code.dest_start)
        yield ("equal", code.src_start, code.src_end, code.dest_start, code.dest_end)
        at_old, at_new = code.src_end, code.dest_end
    if (at_old, at_new) != (len(old), len(new)):
        yield ("replace", at_old, len(old), at_new, len(new))


def _hunks(rows: Sequence[_Row]) -> Iterable[Sequence[_Row]]:
    """Yield runs of rows around changes; changes whose contexts touch share one."""
    changed = [index for index, row in enumerate(rows) if row.mark != " "]
    start = previous = changed[0]
    for index in [*changed[1:], len(rows) + 2 * CONTEXT_LINES + 2]:
        if index - previous > 2 * CONTEXT_LINES + 1:
            yield rows[max(0, start - CONTEXT_LINES) : previous + CONTEXT_LINES + 1]
            start = index
        previous = index


def _written(hunk: Sequence[_Row]) -> Iterable[str]:
    n_old = sum(row.mark != "+" for row in hunk)
    n_new = sum(row.mark != "-" for row in hunk)
    old_start = hunk[0].before + (1 if n_old else 0)
    new_start = hunk[0].after + (1 if n_new else 0)
    yield f"@@ -{old_start},{n_old} +{new_start},{n_new} @@"
    for row in hunk:
        yield row.mark + row.text.removesuffix("\n").removesuffix("\r")
        if not row.text.endswith("\n"):
            yield "\\ No newline at end of file"


__all__ = ["DIFF_LIMIT_CHARS", "Diff", "diff_of"]
