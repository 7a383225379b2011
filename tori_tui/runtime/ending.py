"""What follows a turn: go on, go on with a word to the model, or end the run.

Must not take turns; the runner does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tori_tui.domain.agents import Agent
from tori_tui.domain.events import MessageAdded, NoticeShown, PlanChanged
from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import Message, Origin
from tori_tui.domain.plan_edits import EvidenceRecorded
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.state import SessionState
from tori_tui.runtime import nudges
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.final_checks import FinalChecks
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.loops import NUDGE_AT, STOP_AT, count_repeats
from tori_tui.runtime.plan_offer import PlanOffer
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.turn_end import RunEnd, TurnEnd

NAG_LIMIT: Final = 2
"""From DESIGN §6: a reply that leaves goals open is sent on at most twice in a row."""

NAMED_CHECK_LIMIT_CHARS: Final = 80
"""In the reason of an end, which is one line."""


class Ending:
    """Judges each turn of one run."""

    def __init__(
        self,
        recorder: Recorder,
        asking: Asking,
        checks: FinalChecks,
        has_words: Callable[[], bool],
        identities: Identities,
    ) -> None:
        self._recorder = recorder
        self._asking = asking
        self._checks = checks
        self._has_words = has_words
        self._identities = identities
        self._offer = PlanOffer(recorder, asking, identities)
        self._nags = 0

    async def after(self, turn: TurnEnd) -> RunEnd | None:
        """Return the end of the run, or None if another turn follows."""
        if turn.abort_reason is not None:
            return RunEnd("failed", turn.abort_reason, "abort")
        if turn.n_calls:
            self._nags = 0
            return await self._circling(turn)
        if self._has_words():
            return None
        return await self.answered(turn)

    async def answered(self, turn: TurnEnd) -> RunEnd | None:
        """Judge a reply without calls: the end, unless it was cut, answers a comment or leaves goals open."""
        if turn.stop_reason == "length":
            return await self._nag(nudges.CUT_AT_LIMIT, RunEnd("incomplete", "the answer was cut", "limit"))
        agent = self._identities.agent
        is_reader = agent is not None and agent.ending != "mission" and self._state.lent_to is None
        if agent is not None and is_reader and turn.text.strip():
            return await self._answered_by(agent)
        open_goals = self._state.tree.open_goals
        if not open_goals:
            if not turn.text.strip():
                return await self._nag(nudges.SAID_NOTHING, RunEnd("incomplete", "the model says nothing"))
            return await self._checked()
        if self._answers_comment(turn):
            return None
        if self._asking.has_user and turn.text.rstrip().endswith(("?", "？")):
            return RunEnd("incomplete", "the model asks the user", "goals_open")
        end = RunEnd("incomplete", _open_text(open_goals), "goals_open")
        lent = self._state.tree.find(self._state.lent_to) if self._state.lent_to else None
        return await self._nag(nudges.lent_open(lent) if lent else nudges.goals_open(open_goals), end)

    async def _answered_by(self, agent: Agent) -> RunEnd | None:
        """Judge the answer of an agent that only reads: a plan is offered, an answer ends the run."""
        open_goals = self._state.tree.open_goals
        if agent.ending == "plan" and open_goals:
            return await self._offer.make()
        if open_goals:
            return RunEnd("incomplete", f"{agent.name} answered; {_open_text(open_goals)}", "goals_open")
        mission = self._state.tree.current_mission
        if mission is not None and mission.check is not None:
            return RunEnd("incomplete", f"{agent.name} answered; it runs no check", "check_red")
        return RunEnd("done")

    @property
    def _state(self) -> SessionState:
        return self._recorder.state

    async def _checked(self) -> RunEnd | None:
        """Before a run calls itself done: no check of a finished goal red again, the mission's own green."""
        red: list[tuple[Goal, str]] = []
        async for goal, outcome in self._checks.of_goals():
            if outcome.evidence is not None:
                edit = EvidenceRecorded(goal.id, outcome.evidence)
                await self._recorder.record(PlanChanged((edit,), "runner"))
            if outcome.is_red:
                red.append((goal, outcome.text))
        for goal, _ in red:
            self._recorder.announce(
                NoticeShown(f"The check of goal {goal.id} is red again: {goal.check}", "warning")
            )
        if red:
            names = ", ".join(goal.id for goal, _ in red)
            end = RunEnd("incomplete", f"checks red again: {names}", "check_red")
            return await self._nag(nudges.checks_red_again([f"{g.id}: {text}" for g, text in red]), end)
        mission = self._state.tree.current_mission
        if mission is None or mission.check is None:
            return RunEnd("done")
        outcome = await self._checks.of_mission(mission)
        if not outcome.is_red:
            return RunEnd("done")
        self._recorder.announce(NoticeShown(f"The mission's check is red: {mission.check}", "warning"))
        end = RunEnd("incomplete", f"the check is red: {mission.check}", "check_red")
        return await self._nag(nudges.check_red(outcome.text), end)

    def _answers_comment(self, turn: TurnEnd) -> bool:
        """Whether the user's comment is the newest word before the reply."""
        log = self._state.log
        newest = (log[i] for i in range(len(log) - 1, -1, -1) if log[i].seq < turn.message_seq)
        before = next(newest, None)
        return before is not None and before.message.origin == "comment"

    async def _nag(self, text: str, end: RunEnd) -> RunEnd | None:
        """Send the model on with a word, at most twice in a row; then the run ends."""
        if self._nags >= NAG_LIMIT:
            return end
        self._nags += 1
        await self._say(text, "runner")
        return None

    async def _circling(self, turn: TurnEnd) -> RunEnd | None:
        state = self._state
        calls = next(e.message.tool_calls for e in reversed(state.log) if e.seq == turn.message_seq)
        repeats, call = max(((count_repeats(state, c), c) for c in calls), key=lambda pair: pair[0])
        if repeats == NUDGE_AT:
            await self._say(nudges.circling(call.name, repeats), "runner")
        if repeats < STOP_AT:
            return None
        question = f"The model made the same call {repeats} times with the same result: {call.name}. Go on?"
        answer = await self._asking.question(question, ("go on", "stop"))
        if answer is None or answer.strip().lower() == "stop":
            return RunEnd("limit", f"the same {call.name} call {repeats} times", "loop")
        await self._say(answer, "user")
        return None

    async def _say(self, text: str, origin: Origin) -> None:
        state = self._state
        message = Message(state.active_context, state.tree.current_id, "user", text, origin=origin)
        await self._recorder.record(MessageAdded(message))


def _open_text(goals: Sequence[Goal]) -> str:
    return f"goals open: {', '.join(_named(goal) for goal in goals)}"


def _named(goal: Goal) -> str:
    if goal.check is None:
        return goal.id
    return f"{goal.id} (its check is not green: {one_line(goal.check, NAMED_CHECK_LIMIT_CHARS)})"


__all__ = ["NAG_LIMIT", "Ending"]
