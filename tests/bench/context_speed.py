"""How long the view engine takes for each request of a session of 5,000 messages."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from tests.bench.figures import Figure
from tori_tui.context.build import BuiltRequest, Prefix, build_request
from tori_tui.context.due import Sizes
from tori_tui.context.engine import ViewEngine
from tori_tui.context.marks import input_limit, marks_for
from tori_tui.context.messages import ShownMessages
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import DurableEvent, MessageAdded, PlanChanged, Record, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_edits import GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.state import SessionState, reduce

N_MESSAGES: Final = 5_000
TURNS_A_GOAL: Final = 25
RESULT_LINES: Final = (10, 120)
SEED: Final = 5
BEGAN_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
MODEL: Final = ModelProfile("openai/m", "openai", "m", "m", 200_000, 32_000, late_system=True)
MEDIAN_BAR_MS: Final = 2.0
P99_BAR_MS: Final = 15.0


class _Session:
    """A session that grows by one turn at a time."""

    def __init__(self, profile_name: str) -> None:
        self._random = random.Random(SEED)
        self._files = {f"src/part_{n}.py": self._lines(n) for n in range(60)}
        self._profile_name = profile_name
        self._tokens = TokenMeter()
        self._shown = ShownMessages(MAIN_CONTEXT, MODEL.window_tokens, self._tokens.count_message)
        self._before: Prefix | None = None
        self.engine = ViewEngine(self._tokens.count_message)
        self.state = SessionState()
        self.record(PlanChanged((MissionOpened(MissionId("m1"), "port the parser"),), "user"))
        self.record(MessageAdded(Message(MAIN_CONTEXT, None, "user", "port the parser", origin="user")))

    def _lines(self, salt: int) -> list[str]:
        count = self._random.randint(*RESULT_LINES)
        return [f"    value_{salt}_{n} = compute_{n % 7}(table_{salt}, {n * 31})" for n in range(count)]

    def record(self, event: DurableEvent) -> None:
        at = BEGAN_AT + timedelta(seconds=self.state.next_seq)
        self.state = reduce(self.state, Record(self.state.next_seq, at, event))

    def turn(self, number: int) -> None:
        if number % TURNS_A_GOAL == 0:
            self._next_goal(number)
        goal_id = self.state.tree.current_id
        self.record(TurnFinished(number, MAIN_CONTEXT, goal_id, "openai/m", "calls"))
        path = self._random.choice(list(self._files))
        lines = self._files[path]
        lines[self._random.randrange(len(lines))] = f"    changed_{number} = {number} * 17 + offset"
        call = ToolCall(CallId(f"c{number}"), "read_file", {"path": path})
        self.record(
            MessageAdded(Message(MAIN_CONTEXT, goal_id, "assistant", "I read on.", tool_calls=(call,)))
        )
        said = Message(
            MAIN_CONTEXT, goal_id, "tool", "\n".join(lines), "tool", tool_call_id=call.id, name="read_file"
        )
        self.record(MessageAdded(self.engine.at_the_door(self.state, said)))

    def _next_goal(self, number: int) -> None:
        done = self.state.tree.current_id
        ended = [GoalCompleted(done, "The part works; src/part.py changed.")] if done else []
        goal_id = GoalId(str(number // TURNS_A_GOAL + 1))
        added = (GoalAdded(goal_id, None, f"Port part {number}"), GoalFocused(goal_id))
        self.record(PlanChanged((*ended, *added), "model"))

    def request(self) -> bool:
        """Do what a request takes; whether it was a rewrite."""
        built = self._built()
        parts = {section.name: section.tokens for section in built.sections}
        sizes = Sizes(
            self._profile_name,
            marks_for(self._profile_name, MODEL, MODEL.window_tokens),
            input_limit(MODEL, MODEL.window_tokens),
            fixed_tokens=sum(n for name, n in parts.items() if name not in ("messages", "folds")),
            total_tokens=sum(parts.values()),
        )
        rewrite = self.engine.due(self.state, MAIN_CONTEXT, sizes)
        if rewrite is not None:
            self.record(rewrite)
            built = self._built()
        self._before = built.prefix
        return rewrite is not None

    def _built(self) -> BuiltRequest:
        return build_request(
            self.state,
            context=MAIN_CONTEXT,
            profile=MODEL,
            system=SystemParts("rules " * 500, "surroundings"),
            before=self._before,
            shown=self._shown,
        )


def times_ms(profile_name: str = "balanced", n_messages: int = N_MESSAGES) -> Iterator[tuple[float, bool]]:
    """Yield what each request took, its results' way through the door included, and if it was a rewrite."""
    session = _Session(profile_name)
    for number in range(n_messages // 2):
        began_s = time.perf_counter()
        session.turn(number)
        is_rewrite = session.request()
        yield (time.perf_counter() - began_s) * 1_000, is_rewrite


def measure() -> Sequence[Figure]:
    """Return the figures of a whole session."""
    gc.collect()
    taken = list(times_ms())
    times = sorted(ms for ms, _ in taken)
    rewrites = [ms for ms, is_rewrite in taken if is_rewrite]
    note = f"{len(times)} requests, {len(rewrites)} rewrites of {statistics.median(rewrites):.0f} ms"
    return [
        Figure("request built, median", statistics.median(times), " ms", MEDIAN_BAR_MS, note),
        Figure("request built, p99", times[int(0.99 * len(times))], " ms", P99_BAR_MS),
    ]


__all__ = ["measure", "times_ms"]
