"""The run loop: from a prompt until the session is idle.

Must not talk to a model or run a tool itself; a turn does. It decides what follows a turn.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.context.folds import due_folds
from tori_tui.domain.commands import EditPlan, SubmitPrompt
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import (
    CommentRouted,
    ErrorOccurred,
    MessageAdded,
    NoticeShown,
    PlanChanged,
    RunCause,
    RunStatus,
    RunStatusChanged,
)
from tori_tui.domain.ids import MissionId
from tori_tui.domain.messages import Message, Origin
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.domain.state import SessionState
from tori_tui.providers.errors import ProviderError
from tori_tui.runtime import nudges
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.calls import CallRunner
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.limits import Limits, RunStart, limit_reached, run_start
from tori_tui.runtime.loops import NUDGE_AT, STOP_AT, count_repeats
from tori_tui.runtime.mission_check import MissionCheck
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.turn import Turn, TurnEnd

NAG_LIMIT: Final = 2
"""From DESIGN §6: a reply that leaves goals open is sent on at most twice in a row."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    status: RunStatus
    reason: str = ""
    cause: RunCause = ""


class Runner:
    """Takes turns until the mission is done or something stops it. One run at a time."""

    def __init__(
        self,
        *,
        recorder: Recorder,
        turn: Turn,
        calls: CallRunner,
        asking: Asking,
        mission_check: MissionCheck,
        limits: Limits,
        clock: Clock,
        facts: Callable[[], RunStatusChanged],
        profile: str,
        after_turn: Callable[[SessionState], None],
    ) -> None:
        self._recorder = recorder
        self._turn = turn
        self._calls = calls
        self._asking = asking
        self._mission_check = mission_check
        self._limits = limits
        self._clock = clock
        self._facts = facts
        self._profile = profile
        self._after_turn = after_turn
        self._plan_edits: list[EditPlan] = []
        self._nags = 0

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        return self._recorder.state

    async def open_mission(self, prompt: SubmitPrompt) -> None:
        """Record a prompt: the next mission, or one more word on the present one."""
        tree = self.state.tree
        if not prompt.continues or tree.mission is None:
            mission_id = MissionId(f"m{len(tree.missions) + 1}")
            opened = MissionOpened(mission_id, prompt.text, prompt.check)
            await self._recorder.record(PlanChanged((opened,), "user"))
        await self._say(prompt.text, origin_is_user=True)

    def queue_edits(self, command: EditPlan) -> None:
        """Keep the user's plan edits for the next safe point."""
        self._plan_edits.append(command)

    async def apply_edits(self) -> None:
        """Apply the user's plan edits that wait."""
        while self._plan_edits:
            await self._recorder.record(PlanChanged(self._plan_edits.pop(0).edits, "user"))

    async def begin(self) -> None:
        """Mend what a kill left open and record that a run begins."""
        await self._calls.close_open_calls("restarted")
        await self._mend_start()
        await self._recorder.record(self._facts())

    async def run(self) -> None:
        """Take turns until the session is idle, and record how the run ended."""
        self._nags = 0
        try:
            end = await self._pick_up() or await self._take_turns(
                run_start(self.state, self._clock.monotonic())
            )
        except ProviderError as error:
            occurred = ErrorOccurred("provider", error.message, error.hint, error.status)
            await self._recorder.record(occurred)
            end = RunEnd("failed", error.message, "provider")
        except ToriError as error:
            await self._recorder.record(ErrorOccurred("runner", error.message, error.hint))
            end = RunEnd("failed", error.message, "runner")
        except Exception as error:
            # A fault of ours must not take the session along: say it, keep everything, go idle.
            text = f"tori failed: {type(error).__name__}: {error}"
            where = "".join(traceback.format_exception(error))[-2_000:]
            await self._recorder.record(ErrorOccurred("runner", text, where))
            end = RunEnd("failed", text, "runner")
        await self.finish(end)

    async def finish(self, end: RunEnd) -> None:
        """Record the end of a run, once everything before it is on the disk."""
        await self._recorder.sync()
        await self._recorder.record(RunStatusChanged(end.status, end.reason, end.cause))
        await self._recorder.sync()
        self._after_turn(self.state)

    async def wind_down(self, reason: str) -> None:
        """After the run's task was cancelled: answer what is open and say that it was interrupted."""
        await self._calls.close_open_calls("interrupted")
        await self.finish(RunEnd("interrupted", reason, "user"))

    async def _mend_start(self) -> None:
        """After a kill between a mission's record and its message, the message is missing."""
        mission = self.state.tree.current_mission
        last = self.state.log[-1] if len(self.state.log) else None
        if mission is not None and (last is None or last.mission_id != mission.id):
            await self._say(mission.text, origin_is_user=True)

    async def _pick_up(self) -> RunEnd | None:
        """After a kill behind a last answer, judge that answer; asking again would only repeat it."""
        entries = self.state.view(self.state.active_context).entries
        last = entries[-1] if len(entries) else None
        if last is None or last.message.role != "assistant" or last.message.tool_calls:
            return None
        return await self._answered(TurnEnd(last.message.text, 0, "end", last.seqs[0]))

    async def _take_turns(self, start: RunStart) -> RunEnd:
        while True:
            await self._take_effect()
            if (stopped := await self._stopped_by_limit(start)) is not None:
                return stopped
            turn_end = await self._turn.run()
            end = await self._after(turn_end)
            fold = due_folds(self.state, self.state.active_context, self._profile)
            if fold is not None:
                await self._recorder.record(fold)
            self._after_turn(self.state)
            if end is not None:
                return end

    async def _take_effect(self) -> None:
        """Apply what the inbox recorded since the last turn."""
        await self.apply_edits()
        for comment in tuple(self.state.comments.values()):
            message = self._message(comment.text, is_users=True)
            said = replace(message, origin="comment", comment_id=comment.comment_id)
            await self._recorder.record(MessageAdded(said))
            routed = CommentRouted(comment.comment_id, "current", "fallback", note="joined the context")
            await self._recorder.record(routed)

    async def _after(self, turn: TurnEnd) -> RunEnd | None:
        if turn.abort_reason is not None:
            return RunEnd("failed", turn.abort_reason, "abort")
        if turn.n_calls:
            self._nags = 0
            return await self._circling(turn)
        if self.state.comments or self._plan_edits:
            return None
        return await self._answered(turn)

    async def _answered(self, turn: TurnEnd) -> RunEnd | None:
        """A reply without calls: the end, unless it was cut, answers a comment, or leaves goals open."""
        if turn.stop_reason == "length":
            return await self._nag(nudges.CUT_AT_LIMIT, RunEnd("incomplete", "the answer was cut", "limit"))
        open_goals = self.state.tree.open_goals
        if not open_goals:
            if not turn.text.strip():
                return await self._nag(nudges.SAID_NOTHING, RunEnd("incomplete", "the model says nothing"))
            return await self._checked()
        if self._answers_comment(turn):
            return None
        if self._asking.has_user and turn.text.rstrip().endswith(("?", "？")):
            return RunEnd("incomplete", "the model asks the user", "goals_open")
        names = ", ".join(goal.id for goal in open_goals)
        return await self._nag(
            nudges.goals_open(open_goals), RunEnd("incomplete", f"goals open: {names}", "goals_open")
        )

    async def _checked(self) -> RunEnd | None:
        """Run the mission's own check before the run may call itself done."""
        mission = self.state.tree.current_mission
        if mission is None or mission.check is None:
            return RunEnd("done")
        outcome = await self._mission_check.run(mission)
        if outcome.evidence is not None and outcome.evidence.exit_code == 0:
            return RunEnd("done")
        end = RunEnd("incomplete", f"the check is red: {mission.check}", "check_red")
        return await self._nag(nudges.check_red(outcome.text), end)

    def _answers_comment(self, turn: TurnEnd) -> bool:
        """Whether the user's comment is the newest word before the reply."""
        log = self.state.log
        before = [
            e for e in (log[i] for i in range(max(0, len(log) - 8), len(log))) if e.seq < turn.message_seq
        ]
        return bool(before) and before[-1].message.origin == "comment"

    async def _nag(self, text: str, end: RunEnd) -> RunEnd | None:
        """Send the model on with a word, at most twice in a row; then the run ends."""
        if self._nags >= NAG_LIMIT:
            return end
        self._nags += 1
        await self._say(text, origin_is_user=False)
        return None

    async def _circling(self, turn: TurnEnd) -> RunEnd | None:
        state = self.state
        calls = next(e.message.tool_calls for e in reversed(state.log) if e.seq == turn.message_seq)
        repeats, call = max(((count_repeats(state, c), c) for c in calls), key=lambda pair: pair[0])
        if repeats == NUDGE_AT:
            await self._say(nudges.circling(call.name, repeats), origin_is_user=False)
        if repeats < STOP_AT:
            return None
        question = f"The model made the same call {repeats} times with the same result: {call.name}. Go on?"
        answer = await self._asking.question(question, ("go on", "stop"))
        if answer is None or answer.strip().lower() == "stop":
            return RunEnd("limit", f"the same {call.name} call {repeats} times", "loop")
        await self._say(answer, origin_is_user=True)
        return None

    async def _stopped_by_limit(self, start: RunStart) -> RunEnd | None:
        while True:
            reached = limit_reached(self._limits, start, self.state, self._clock.monotonic())
            if reached is None:
                return None
            answer = await self._asking.question(f"Limit reached: {reached.text}. Double it?", ("yes", "no"))
            if answer is None or not answer.strip().lower().startswith("y"):
                return RunEnd("limit", reached.text, "limit")
            self._limits = self._limits.raised(reached.name)
            self._recorder.announce(NoticeShown(f"Limit of {reached.name} doubled."))

    async def _say(self, text: str, *, origin_is_user: bool) -> None:
        await self._recorder.record(MessageAdded(self._message(text, is_users=origin_is_user)))

    def _message(self, text: str, *, is_users: bool) -> Message:
        state = self.state
        origin: Origin = "user" if is_users else "runner"
        return Message(state.active_context, state.tree.current_id, "user", text, origin=origin)


def can_continue(state: SessionState) -> bool:
    """Whether there is anything to go on with: a mission that is not done."""
    return state.tree.mission is not None and state.status != "done"


__all__ = ["NAG_LIMIT", "RunEnd", "Runner", "can_continue"]
