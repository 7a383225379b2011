"""What any request of a trace held, made again from the records, and by which rule each part was there.

Pure. Must not store anything: the records before a turn give the view that its request showed.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.context.build import MESSAGE_SECTIONS
from tori_tui.context.repeats import find_repeats
from tori_tui.context.strict_parts import is_strict_json, strict_parts
from tori_tui.context.tokens import estimate_message
from tori_tui.context.trace_history import TraceHistory
from tori_tui.domain.events import Record, Section, TurnFinished
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import ContextId, GoalId, Seq
from tori_tui.domain.inspection import SentPart, SentRequest, SentTotals, common_prefix
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import ViewEntry

CACHE_LIFE_S: Final = 300
"""After this long the provider's prompt cache is taken to be cold."""

TITLE_LIMIT_CHARS: Final = 60

FIXED_RULES: Final = {
    "plan": "plan: never cut",
    "run": "strict JSON: where the run stands",
}
FIXED_RULE: Final = "fixed: sent with every request"

NEVER_CUT_WORDS: Final = "user's words: never cut"


def inspect(history: TraceHistory, at: int, text_of: Callable[[str], str], window_tokens: int) -> SentRequest:
    """Return the request of the turn that a record closes, with what of it was in the cache.

    Args:
        history: The trace.
        at: The record's index.
        text_of: Gives the text of a section by its hash; empty where it is not there any more.
        window_tokens: Of the turn's model.
    """
    look = _Look(history, text_of, window_tokens)
    return look.request(history.records[at], history.state_before(at), at, history.befores.get(at))


def inspect_coming(
    history: TraceHistory, coming: Record, text_of: Callable[[str], str], window_tokens: int
) -> SentRequest:
    """Return the request of a turn that would come at the end of the records.

    Args:
        history: The trace.
        coming: What would close that turn.
        text_of: Gives the text of a section by its hash.
        window_tokens: Of the turn's model.
    """
    context = _turn_of(coming).context
    look = _Look(history, text_of, window_tokens)
    return look.request(coming, history.end, len(history.records), history.newest.get(context))


def totals(history: TraceHistory) -> SentTotals:
    """Return what all requests took together, by the sections that were recorded."""
    turns = [history.turn(at) for at in history.turns]
    cacheable = 0
    for at in history.turns:
        before = history.befores.get(at)
        if before is not None:
            gap_s = (history.records[at].at - history.records[before].at).total_seconds()
            cacheable += 0 if gap_s > CACHE_LIFE_S else _unchanged(history.turn(at), history.turn(before))
    return SentTotals(
        n_turns=len(turns),
        input_tokens=sum(turn.usage.input_tokens for turn in turns),
        cached_tokens=sum(turn.usage.cached_tokens for turn in turns),
        cacheable_tokens=cacheable,
        output_tokens=sum(turn.usage.output_tokens for turn in turns),
        cost_usd=sum(turn.cost_usd or 0.0 for turn in turns),
        has_unpriced_turns=any(turn.cost_usd is None for turn in turns),
        rewrites=tuple((turn.number, turn.rewrite) for turn in turns if turn.rewrite),
    )


def _unchanged(turn: TurnFinished, before: TurnFinished) -> int:
    """Return about how much of a request stood in the one before it."""
    tokens = 0
    for section, earlier in zip(turn.sections, before.sections, strict=False):
        if section.name in MESSAGE_SECTIONS:
            # Without a rewrite all earlier messages are still there.
            messages = sum(part.tokens for part in before.sections if part.name in MESSAGE_SECTIONS)
            return tokens if turn.rewrite else tokens + messages
        if section.sha256 != earlier.sha256:
            return tokens
        tokens += section.tokens
    return tokens


def _without_late_plan(parts: Sequence[SentPart]) -> Sequence[SentPart]:
    return parts[:-1] if parts and parts[-1].name == "plan" else parts


def _turn_of(record: Record) -> TurnFinished:
    if not isinstance(record.event, TurnFinished):
        raise TypeError(f"record {record.seq} closes no turn")
    return record.event


@dataclass(frozen=True, slots=True)
class _Look:
    """What looks at the requests of one trace."""

    history: TraceHistory
    text_of: Callable[[str], str]
    window_tokens: int

    def request(self, record: Record, state: SessionState, at: int, before: int | None) -> SentRequest:
        """Return the request of a turn, compared with the one before it in its context."""
        parts = self._parts(_turn_of(record), state, at)
        is_cold = False
        if before is not None:
            earlier = self.history.records[before]
            is_cold = (record.at - earlier.at).total_seconds() > CACHE_LIFE_S
            sent = self._parts(_turn_of(earlier), self.history.state_before(before), before)
            n_common = 0 if is_cold else common_prefix(parts, _without_late_plan(sent))
            parts = [replace(part, is_cached=place < n_common) for place, part in enumerate(parts)]
        return SentRequest(_turn_of(record), record.at, tuple(parts), find_repeats(parts), is_cold)

    def _parts(self, turn: TurnFinished, state: SessionState, at: int) -> list[SentPart]:
        """Return what a request held: `at` is how many records there were."""
        history = self.history
        starts = [history.records[place].seq for place in history.turns]
        last_failure = next((e.seq for e in reversed(state.log) if _has_failed(e.message)), None)
        goals = {goal.id: goal for goal in state.tree.walk()}
        folds = history.folds_until(at)
        scene = _Scene(state, turn, folds, starts, last_failure, history.known_parts, goals)
        is_strict = is_strict_json(turn.sections)
        rows = strict_parts(state, turn, self.window_tokens) if is_strict else list(scene.rows())
        rows = _scaled(rows, turn.sections)
        parts: list[SentPart] = []
        for section in turn.sections:
            if section.name not in MESSAGE_SECTIONS:
                parts.append(_fixed(section, self.text_of(section.sha256)))
            elif rows:
                parts += rows
                rows = []
        return parts


def _fixed(section: Section, text: str) -> SentPart:
    rule = FIXED_RULES.get(section.name, FIXED_RULE)
    return SentPart(section.name, "", section.tokens, rule, digest=section.sha256, text=text)


def _scaled(rows: Sequence[SentPart], sections: Sequence[Section]) -> list[SentPart]:
    """Make the rows add up to what was recorded, which the provider's own counts had corrected."""
    recorded = sum(section.tokens for section in sections if section.name in MESSAGE_SECTIONS)
    estimate = sum(row.tokens for row in rows)
    if not estimate or not recorded:
        return list(rows)
    scaled: list[SentPart] = []
    done = given = 0
    for row in rows:
        done += row.tokens
        tokens = round(done * recorded / estimate) - given
        given += tokens
        scaled.append(replace(row, tokens=tokens))
    return scaled


@dataclass(slots=True)
class _Scene:
    """A view as a request showed it."""

    state: SessionState
    turn: TurnFinished
    folds: dict[tuple[ContextId, tuple[Seq, ...]], tuple[Record, str]]
    turn_ends: Sequence[Seq]
    last_failure: Seq | None
    known: dict[tuple[int, ...], tuple[tuple[Message, ...], SentPart]]
    goals: dict[GoalId, Goal]

    def rows(self) -> Iterator[SentPart]:
        """Yield the parts, a reply together with the results of its calls."""
        group: list[ViewEntry] = []
        for entry in self.state.view(self.turn.context).entries:
            if entry.message.role != "tool" and group:
                yield self._row(group)
                group = []
            group.append(entry)
        if group:
            yield self._row(group)

    def _row(self, group: Sequence[ViewEntry]) -> SentPart:
        part = self._known_part(group)
        rules = (rule for entry in group for rule in self._rules(entry, part.name))
        seqs = tuple(seq for entry in group for seq in entry.seqs)
        return replace(part, rule="; ".join(dict.fromkeys(rules)), seqs=seqs, age_turns=self._age(seqs[0]))

    def _known_part(self, group: Sequence[ViewEntry]) -> SentPart:
        """Return what follows from the messages alone; those of a long view are nearly all known."""
        messages = tuple(entry.message for entry in group)
        key = tuple(map(id, messages))
        if key not in self.known:
            shown = [_content(message) for message in messages]
            part = SentPart(
                name=_name(messages[0]),
                title=_title(messages[0]),
                tokens=sum(map(estimate_message, messages)),
                rule="",
                digest=hashlib.sha256("\0".join(shown).encode("utf-8", "surrogatepass")).hexdigest(),
                text="\n".join(message.text for message in messages),
            )
            self.known[key] = (messages, part)
        return self.known[key][1]

    def _age(self, seq: Seq) -> int:
        """Return how many requests before this one showed the record."""
        return bisect_left(self.turn_ends, self.state.next_seq) - bisect_left(self.turn_ends, seq)

    def _rules(self, entry: ViewEntry, name: str) -> Iterator[str]:
        message = entry.message
        made = self.folds.get((self.turn.context, entry.seqs))
        if entry.is_fold or (made is not None and not entry.is_pointer):
            record, rule = made or (None, "")
            where = f" (#{record.seq})" if record else ""
            yield f"{rule or 'fold'}{where}" if entry.is_fold else f"shown whole again: {rule}{where}"
        elif entry.is_pointer:
            since = entry.said.shown_since
            told = ", ".join(f"#{seq}" for seq in since) or "elsewhere"
            yield f"at the door: left out what {told} shows"
        elif name == "words":
            yield NEVER_CUT_WORDS
        elif message.role != "tool":
            yield self._live_rule(message)
        if self.last_failure in entry.seqs and not entry.is_fold:
            yield "last failure: never cut"

    def _live_rule(self, message: Message) -> str:
        if message.origin == "runner":
            return "tori's own word: kept with the turns around it"
        goal = self.goals.get(message.goal_id) if message.goal_id else None
        if goal is None:
            return "mission: kept until a batch"
        if goal.id == self.state.tree.current_id:
            return f"current goal {goal.id}: kept"
        if goal.is_open:
            return f"open goal {goal.id}: kept until a batch"
        return f"goal {goal.id} {goal.status}: marked, folds with the next batch"


def _name(message: Message) -> str:
    if message.origin == "fold":
        return "fold"
    if message.is_users_word:
        return "words"
    if message.role == "assistant":
        return "turn" if message.tool_calls else "answer"
    return "note"


def _title(message: Message) -> str:
    if message.origin == "fold":
        return f"goal {message.goal_id}" if message.goal_id else "several goals"
    if message.tool_calls:
        return one_line(", ".join(call.name for call in message.tool_calls), TITLE_LIMIT_CHARS)
    return one_line(message.text, TITLE_LIMIT_CHARS)


def _content(message: Message) -> str:
    calls = [[call.name, call.arguments_raw or call.arguments] for call in message.tool_calls]
    return json.dumps([message.role, message.text, calls], default=str)


def _has_failed(message: Message) -> bool:
    exit_code = message.details.get("exit_code")
    return message.role == "tool" and (message.is_error or (isinstance(exit_code, int) and exit_code != 0))


__all__ = ["CACHE_LIFE_S", "TraceHistory", "inspect", "inspect_coming", "totals"]
