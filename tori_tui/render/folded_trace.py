"""A session as its plan, with finished work folded away: what `tori show` prints.

Must not read a trace; it is given the state that the trace folds to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from tori_tui.domain.branches import branches_of_goal
from tori_tui.domain.goals import Goal, Mission
from tori_tui.domain.ids import CallId, GoalId, MissionId
from tori_tui.domain.messages import Message
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.branch import branch_line
from tori_tui.render.safe_text import one_line, safe_text
from tori_tui.render.tool_call import call_title, result_line

DEFAULT_WIDTH: Final = 100

MISSION_LIMIT_CHARS: Final = 200

LATEST_STEPS: Final = 3
"""Steps of an open goal that stay in sight; what came before is folded."""

_INDENT: Final = "    "
_DOTS: Final = "┄" * 20

_MARKS: Final = {
    "pending": ("[ ]", ""),
    "in_progress": ("[→]", "bold"),
    "completed": ("[✓]", "green"),
    "abandoned": ("[✗]", "yellow"),
}

_QUIET_STATUSES: Final = frozenset({"idle", "running", "waiting", "done"})

Segment = tuple[MissionId | None, GoalId | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done for a goal: a call with its result, or something that was said."""

    text: str
    result: str = ""
    is_call: bool = True


def folded_trace(
    state: SessionState, *, is_unfolded: bool = False, width: int = DEFAULT_WIDTH
) -> Iterator[Text]:
    """Yield the lines of a session, in order.

    Args:
        state: What the trace folds to.
        is_unfolded: Show every step and what came of it.
        width: Most cells of a rule; text is not cut to it.
    """
    return _Folded(state, is_unfolded, width).lines()


def steps_by_segment(state: SessionState) -> Mapping[Segment, Sequence[Step]]:
    """Return what was done, in order, for each goal and each mission's own segment."""
    results: dict[CallId, Message] = {
        entry.message.tool_call_id: entry.message
        for entry in state.log
        if entry.message.role == "tool" and entry.message.tool_call_id is not None
    }
    steps: dict[Segment, list[Step]] = defaultdict(list)
    for entry in state.live_log:
        message = entry.message
        if message.role == "tool":
            continue
        segment = (entry.mission_id, message.goal_id)
        if message.text.strip() and message.origin != "runner" and not message.is_told_again:
            mark = "› " if message.is_users_word else ""
            steps[segment].append(Step(mark + safe_text(message.text.strip()), is_call=False))
        for call in message.tool_calls:
            if call.name != "goal":
                result = results.get(call.id)
                steps[segment].append(Step(call_title(call), result_line(result) if result else ""))
    return steps


class _Folded:
    """The lines of one session."""

    def __init__(self, state: SessionState, is_unfolded: bool, width: int) -> None:
        self._state = state
        self._is_unfolded = is_unfolded
        self._width = width
        self._steps = steps_by_segment(state)

    def lines(self) -> Iterator[Text]:
        rule_width = 0
        for mission in self._state.tree.missions or (Mission(MissionId(""), "(none yet)"),):
            header = f"Mission: {one_line(mission.text, MISSION_LIMIT_CHARS)}"
            rule_width = min(cell_len(header), self._width)
            yield Text(header, style="bold")
            yield Text("═" * rule_width, style="dim")
            yield from self._mission(mission)
        yield Text("─" * rule_width, style="dim")
        yield Text(self._footer())

    def _mission(self, mission: Mission) -> Iterator[Text]:
        yield from self._branches(mission.id, None, "")
        goals = [goal for goal in self._state.tree.goals if goal.id in mission.goal_ids]
        own = self._steps.get((mission.id, None), ())
        if self._is_unfolded:
            yield from self._all_steps(own, "")
        elif not goals:
            yield from self._some_steps(own, "", is_open=False)
            answers = [step.text for step in own if not step.is_call and not step.text.startswith("› ")]
            if answers:
                yield Text(f"→ {one_line(answers[-1], MISSION_LIMIT_CHARS)}")
        for goal in goals:
            yield from self._goal(goal, mission, "", is_root=True)

    def _goal(self, goal: Goal, mission: Mission, indent: str, *, is_root: bool = False) -> Iterator[Text]:
        mark, style = _MARKS[goal.status]
        dot = "." if is_root else ""
        line = Text(indent)
        line.append(mark, style=style)
        line.append(f" {goal.id}{dot} {one_line(goal.description)}", style="bold" if goal.is_open else "")
        line.append(self._suffix(goal), style="dim")
        yield line
        inner = indent + _INDENT
        if goal.summary:
            for number, text in enumerate(safe_text(goal.summary).strip().splitlines() or [""]):
                yield Text(f"{inner}{'  ' if number else '→ '}{text.strip()}")
        if goal.evidence is not None:
            check = f"check: {one_line(goal.evidence.command, MISSION_LIMIT_CHARS)}"
            passed = goal.evidence.exit_code == 0
            yield Text(f"{inner}{check} → exit {goal.evidence.exit_code}", style="green" if passed else "red")
        yield from self._branches(mission.id, goal.id, inner)
        steps = self._steps.get((mission.id, goal.id), ())
        if self._is_unfolded:
            yield from self._all_steps(steps, inner)
        elif goal.status != "abandoned":
            yield from self._some_steps(steps, inner, is_open=goal.is_open)
        for child in goal.children:
            yield from self._goal(child, mission, inner)

    def _branches(self, mission_id: MissionId, goal_id: GoalId | None, indent: str) -> Iterator[Text]:
        for branch in branches_of_goal(self._state.branches, mission_id, goal_id):
            yield Text(indent + branch_line(branch, is_lost=self._state.past.is_lost(branch.seq)))

    def _suffix(self, goal: Goal) -> str:
        if goal.status == "abandoned":
            return " (abandoned)"
        parts = []
        if goal.status == "completed":
            n_steps = sum(self._n_calls(part.id) for part in goal.walk())
            duration = shown_duration(self._state.stats_of(goal.id).duration_s)
            parts.append(f" ({counted(n_steps, 'step')}, {duration})")
        if goal.id == self._state.tree.current_id:
            parts.append("  ← current")
        return "".join(parts)

    def _n_calls(self, goal_id: GoalId) -> int:
        return sum(
            step.is_call for (_, owner), steps in self._steps.items() if owner == goal_id for step in steps
        )

    def _some_steps(self, steps: Sequence[Step], indent: str, *, is_open: bool) -> Iterator[Text]:
        """An ended goal keeps its first step in sight, an open one its last."""
        titles = [step.text for step in steps if step.is_call]
        n_shown = LATEST_STEPS if is_open else 1
        if len(titles) <= n_shown + 1:
            lines = titles
        elif is_open:
            lines = [f"{counted(len(titles) - n_shown, 'step')} folded", *titles[-n_shown:]]
        else:
            lines = [titles[0], f"{counted(len(titles) - 1, 'step')} folded"]
        if lines:
            yield Text(indent + _DOTS, style="dim")
        for number, line in enumerate(lines, 1):
            yield Text(f"{indent}{'└─' if number == len(lines) else '├─'} {line}", style="dim")

    def _all_steps(self, steps: Sequence[Step], indent: str) -> Iterator[Text]:
        if steps:
            yield Text(indent + _DOTS, style="dim")
        for number, step in enumerate(steps, 1):
            branch, below = ("└─", "  ") if number == len(steps) else ("├─", "│ ")
            first, *rest = step.text.splitlines() or [""]
            yield Text(f"{indent}{branch} {first}", style="dim" if step.is_call else "")
            for line in rest:
                yield Text(f"{indent}{below} {line}")
            if step.result:
                yield Text(f"{indent}{below}   {step.result}", style="dim")

    def _footer(self) -> str:
        state, tree = self._state, self._state.tree
        done, total = tree.progress()
        cost = shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns) if state.n_turns else ""
        parts = (
            f"{done}/{counted(total, 'goal')}" if total else "no goals",
            f"current {tree.current_id}" if tree.current_id else "",
            counted(state.n_turns, "turn"),
            f"{shown_tokens(state.usage.total_tokens)} tokens",
            cost,
            "" if state.status in _QUIET_STATUSES else state.status,
        )
        return "Progress: " + " · ".join(part for part in parts if part)


__all__ = ["DEFAULT_WIDTH", "Step", "folded_trace", "steps_by_segment"]
