"""A request section by section: what `tori context` prints.

Must not read a trace; it is given what the inspector found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from tori_tui.domain.ids import Seq
from tori_tui.domain.inspection import SentPart, SentRequest, SentTotals
from tori_tui.render.amounts import counted, shown_cost
from tori_tui.render.safe_text import one_line

LONGEST: Final = 5
REPEATS_LIMIT: Final = 10
REWRITES_LIMIT: Final = 20
RECORDS_WIDTH: Final = 12
NAME_WIDTH: Final = 34

HEAD: Final = (
    f"{'tokens':>8} {'share':>6} {'age':>4} {'cache':<5} {'records':<{RECORDS_WIDTH}} "
    f"{'section':<{NAME_WIDTH}} rule"
)


def request_sections(request: SentRequest) -> Iterator[Text]:
    """Yield the lines of one request: its parts in the order of sending, then what stands out."""
    yield Text(_title(request), "bold")
    yield Text("")
    yield Text(HEAD, "dim")
    for part in request.parts:
        yield Text(_row(part, request.tokens), "" if part.is_cached else "yellow")
    yield Text("")
    yield from map(Text, _sums(request))
    longest = sorted(request.parts, key=lambda part: -part.tokens)[:LONGEST]
    yield Text("Longest: " + ", ".join(f"{_label(part)} {part.tokens:,}" for part in longest))
    for repeat in request.repeats[:REPEATS_LIMIT]:
        lines = counted(repeat.n_lines, "line")
        yield Text(f"Twice: {repeat.part} shows {lines} of {repeat.of_part} again ({repeat.tokens:,} tokens)")
    if not request.repeats:
        yield Text("Twice: nothing.")


def totals_lines(totals: SentTotals) -> Iterator[Text]:
    """Yield the lines about all requests together."""
    cost = shown_cost(totals.cost_usd, is_partial=totals.has_unpriced_turns)
    money = f", {cost}" if cost else ""
    yield Text(
        f"All {counted(totals.n_turns, 'request')}: {totals.input_tokens:,} tokens in, "
        f"{totals.output_tokens:,} out{money}."
    )
    yield Text(
        f"The cache should have saved {totals.cacheable_tokens:,} tokens and saved {totals.cached_tokens:,}."
    )
    for number, why in totals.rewrites[:REWRITES_LIMIT]:
        yield Text(f"Rewritten before turn {number}: {one_line(why)}")
    if len(totals.rewrites) > REWRITES_LIMIT:
        yield Text(f"and {len(totals.rewrites) - REWRITES_LIMIT} more rewrites")


def request_difference(before: SentRequest, after: SentRequest) -> Iterator[Text]:
    """Yield what left the request and what came, in the order of the parts."""
    gone = {part.digest for part in before.parts} - {part.digest for part in after.parts}
    new = {part.digest for part in after.parts} - {part.digest for part in before.parts}
    change = after.tokens - before.tokens
    yield Text(
        f"From turn {before.turn.number} to turn {after.turn.number}: {before.tokens:,} → {after.tokens:,} "
        f"tokens ({change:+,})",
        "bold",
    )
    yield Text("")
    yield Text(f"  {HEAD}", "dim")
    for part in before.parts:
        if part.digest in gone:
            yield Text(f"- {_row(part, before.tokens)}", "red")
    for part in after.parts:
        if part.digest in new:
            yield Text(f"+ {_row(part, after.tokens)}", "green")
    n_same = sum(part.digest not in new for part in after.parts)
    yield Text(f"  {counted(n_same, 'section')} the same")


def _title(request: SentRequest) -> str:
    turn = request.turn
    goal = f" · goal {turn.goal_id}" if turn.goal_id else ""
    return f"Turn {turn.number} · {one_line(turn.model)}{goal} · context {turn.context}"


def _row(part: SentPart, whole_tokens: int) -> str:
    share = f"{100 * part.tokens / whole_tokens:.1f}%" if whole_tokens else ""
    age = "" if part.age_turns is None else str(part.age_turns)
    cached = "yes" if part.is_cached else "no"
    name = one_line(f"{part.name} {part.title}".strip(), NAME_WIDTH)
    return (
        f"{part.tokens:>8,} {share:>6} {age:>4} {cached:<5} {_records(part.seqs):<{RECORDS_WIDTH}} "
        f"{name:<{NAME_WIDTH}} {one_line(part.rule)}"
    )


def _records(seqs: Sequence[Seq]) -> str:
    if not seqs:
        return "-"
    first, last = min(seqs), max(seqs)
    return f"#{first}" if first == last else f"#{first}–{last}"


def _label(part: SentPart) -> str:
    return f"{part.name} {_records(part.seqs)}" if part.seqs else part.name


def _sums(request: SentRequest) -> Iterator[str]:
    usage = request.turn.usage
    yield f"Sent {request.tokens:,} tokens by estimate; the provider counted {usage.input_tokens:,}."
    cold = ", for it had gone cold" if request.is_cold else ""
    yield (
        f"Of these {request.cacheable_tokens:,} stood in the request before{cold}; "
        f"{usage.cached_tokens:,} came from the cache."
    )
    if request.turn.rewrite:
        yield f"Rewritten: {one_line(request.turn.rewrite)}"


__all__ = ["request_difference", "request_sections", "totals_lines"]
