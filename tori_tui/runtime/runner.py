"""The run loop: from a prompt until the session is idle.

Must not talk to a model or run a tool itself; a turn does. What follows a turn, `ending` says.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from tori_tui.domain.commands import EditPlan, RouteComment, SubmitPrompt
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import (
    CommentReceived,
    ErrorOccurred,
    MessageAdded,
    NoticeShown,
    PlanChanged,
    RunStatusChanged,
)
from tori_tui.domain.messages import Content, Message, Origin, content_of
from tori_tui.domain.plan_edits import MissionCheckSet, MissionOpened, PlanEdit, fitting_edits
from tori_tui.domain.rewind import FORK_REASON, next_mission_id
from tori_tui.domain.state import SessionState
from tori_tui.providers.errors import ProviderError
from tori_tui.runtime import nudges
from tori_tui.runtime.going_back import GoingBack
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.spending import Spending
from tori_tui.runtime.steering import Steering
from tori_tui.runtime.turn import Turn
from tori_tui.runtime.turn_end import RunEnd, TurnEnd

if TYPE_CHECKING:
    from tori_tui.runtime.calls import CallRunner
    from tori_tui.runtime.ending import Ending
    from tori_tui.runtime.open_calls import Cause

TRACEBACK_LIMIT_CHARS = 2_000
"""Of a fault of ours in the trace; its end says where it happened."""


class Runner:
    """Takes turns until the mission is done or something stops it. One run at a time.

    Args:
        calls: Loads, at its first use, what runs calls.
        new_ending: Returns the judge of one run, by whether the user has said more.
    """

    def __init__(
        self,
        *,
        recorder: Recorder,
        turn: Turn,
        calls: Callable[[], CallRunner],
        steering: Steering,
        spending: Spending,
        new_ending: Callable[[Callable[[], bool]], Ending],
        going_back: GoingBack,
        identities: Identities,
        facts: Callable[[], RunStatusChanged],
        after_turn: Callable[[SessionState], None],
    ) -> None:
        self._recorder = recorder
        self._turn = turn
        self._calls = calls
        self.steering = steering
        self._spending = spending
        self._new_ending = new_ending
        self._ending: Ending | None = None
        self.going_back = going_back
        self.identities = identities
        self._facts = facts
        self._after_turn = after_turn
        self._plan_edits: list[EditPlan] = []
        self._untold_edits: list[PlanEdit] = []
        self._current_turn: asyncio.Task[TurnEnd] | None = None

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        return self._recorder.state

    @property
    def has_words(self) -> bool:
        """Whether the user said something that has not taken effect."""
        return bool(self.state.comments or self._plan_edits or self._untold_edits)

    async def open_mission(self, prompt: SubmitPrompt) -> None:
        """Record a prompt: the next mission, or one more word on the present one."""
        tree = self.state.tree
        if not prompt.continues or tree.mission is None:
            opened = MissionOpened(next_mission_id(self.state), prompt.text, prompt.check)
            await self._recorder.record(PlanChanged((opened,), "user"))
        else:
            await self.identities.say_mission()
        await self._say(content_of(prompt.text, prompt.images), "user")

    async def hear_waiting(self) -> None:
        """Bring into effect what an interrupt left waiting: it was said before the next prompt."""
        if self.state.comments:
            await self.steering.take_effect(is_last_chance=True)

    async def set_check(self, check: str | None) -> None:
        """Give the present mission another check; None leaves what it has."""
        mission = self.state.tree.current_mission
        if check is not None and mission is not None and mission.check != check:
            await self._recorder.record(PlanChanged((MissionCheckSet(mission.id, check),), "user"))

    async def edit_plan(self, command: EditPlan) -> None:
        """Change the plan as the user wants it, at once, or once the model's own change of it is through."""
        self._plan_edits.append(command)
        if not any(call.call.name == "goal" for call in self.state.open_calls.values()):
            await self._make_edits()

    async def apply_edits(self) -> None:
        """Make the user's plan edits that wait, and tell the model in short what changed."""
        await self._make_edits()
        edits, self._untold_edits = self._untold_edits, []
        if told := nudges.plan_edited(edits, self.state.tree):
            await self._say(told, "runner")

    async def _make_edits(self) -> None:
        while self._plan_edits:
            wanted = self._plan_edits.pop(0).edits
            edits = fitting_edits(self.state.tree, wanted)
            if len(edits) < len(wanted):
                text = "The plan has moved on: some of your changes name goals that are not there any more."
                self._recorder.announce(NoticeShown(text, "warning"))
            if edits:
                await self._recorder.record(PlanChanged(edits, "user"))
                self._untold_edits += edits

    async def receive_comment(self, comment: CommentReceived) -> None:
        """Record a comment of a run; the turn is cancelled where the user aimed it so."""
        if await self.steering.receive(comment):
            self._cancel_turn()

    def route_comment(self, command: RouteComment) -> None:
        """Take in a verdict; the turn is cancelled where the comment undoes what it works on."""
        if self.steering.take(command):
            self._cancel_turn()

    async def compact(self, *, is_running: bool) -> None:
        """Fold the active context as the user asks for; in a run before its next request."""
        if is_running:
            self._turn.is_compaction_wanted = True
            return
        try:
            await self._turn.compact()
        except ToriError as error:
            self._recorder.announce(NoticeShown(str(error), "warning"))

    async def begin(self) -> None:
        """Mend what a kill left open and record that a run begins."""
        if self.state.open_calls and not self._calls().can_resume():
            is_forked = self.state.reason.startswith(FORK_REASON)
            await self._close_open_calls("forked" if is_forked else "restarted")
        await self._mend_start()
        await self._recorder.record(self._facts())
        self.steering.find_verdicts()
        await self.going_back.begin()

    async def run(self) -> None:
        """Take turns until the session is idle, and record how the run ended."""
        self._ending = None
        self._spending.begin()
        try:
            await self._resume_calls()
            end = await self._pick_up()
            while end is None or await self._has_heard_more(end):
                end = await self._take_turns(is_last_chance=end is not None)
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
            where = "".join(traceback.format_exception(error))[-TRACEBACK_LIMIT_CHARS:]
            await self._recorder.record(ErrorOccurred("runner", text, where))
            end = RunEnd("failed", text, "runner")
        await self.finish(end)

    async def _has_heard_more(self, end: RunEnd) -> bool:
        """Whether the user said something while the last records went to the disk; a limit stands."""
        await self._settled()
        return self.has_words and end.status != "limit"

    async def finish(self, end: RunEnd) -> None:
        """Record the end of a run, once everything before it is on the disk."""
        await self._settled()
        await self.steering.tell_shell()
        await self.apply_edits()
        await self.identities.follow_wishes()
        await self.identities.share_memory()
        await self._recorder.record(RunStatusChanged(end.status, end.reason, end.cause))
        await self._recorder.sync()
        self._after_turn(self.state)

    async def _settled(self) -> None:
        await self.going_back.settled()
        await self._recorder.sync()

    async def wind_down(self, reason: str) -> None:
        """After the run's task was cancelled: answer what is open and say that it was interrupted."""
        await self._close_open_calls("interrupted")
        await self.finish(RunEnd("interrupted", reason, "user"))

    async def _close_open_calls(self, cause: Cause) -> None:
        if self.state.open_calls:
            await self._calls().close_open_calls(cause)

    async def _resume_calls(self) -> None:
        """Go on with what a kill cut off and can go on, within the time of the run."""
        try:
            async with asyncio.timeout(self._spending.seconds_left()) as time_limit:
                if self.state.open_calls:
                    await self._calls().resume()
        except TimeoutError:
            if not time_limit.expired():
                raise
            await self._close_open_calls("limit")

    async def _judged(self, turn: TurnEnd) -> RunEnd | None:
        """Return the end of the run, or None if another turn follows."""
        if self._ending is None:
            self._ending = self._new_ending(lambda: self.has_words)
        return await self._ending.after(turn)

    async def _mend_start(self) -> None:
        """After a kill between a mission's record and its message, the message is missing."""
        mission = self.state.tree.current_mission
        if mission is None:
            return
        last = next(iter(reversed(self.state.live_log)), None)
        if last is None or last.mission_id != mission.id:
            await self._say(mission.text, "user")

    async def _pick_up(self) -> RunEnd | None:
        """After a kill behind a last answer, judge that answer; asking again would only repeat it."""
        entries = self.state.view(self.state.active_context).entries
        last = entries[-1] if len(entries) else None
        if last is None or last.message.role != "assistant" or last.message.tool_calls:
            return None
        return await self._judged(TurnEnd(last.message.text, 0, "end", last.seqs[0]))

    async def _take_turns(self, *, is_last_chance: bool) -> RunEnd:
        while True:
            if news := self.going_back.take_news():
                await self._say(news, "runner")
            await self.apply_edits()
            await self.steering.take_effect(is_last_chance=is_last_chance)
            await self._spending.stop_spent_goals()
            await self.identities.settle()
            if (reached := await self._spending.limit_reached()) is not None:
                return RunEnd("limit", reached.text, "limit")
            try:
                async with asyncio.timeout(self._spending.seconds_left()) as time_limit:
                    turn = await self._one_turn()
                    end = None if turn is None else await self._judged(turn)
            except TimeoutError:
                if not time_limit.expired():
                    raise
                await self._close_open_calls("limit")
                continue
            # The run would have ended: what was said meanwhile joins it now.
            is_last_chance = end is not None or (turn is not None and not turn.n_calls)
            self._after_turn(self.state)
            if end is not None and not self.has_words:
                return end

    async def _one_turn(self) -> TurnEnd | None:
        """Take a turn; None if a comment cancelled it, everything of it answered then."""
        self._current_turn = asyncio.create_task(self._turn.run())
        try:
            return await self._current_turn
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            await self._close_open_calls("steered")
            return None
        finally:
            self._current_turn = None

    def _cancel_turn(self) -> None:
        """Stop the turn that runs, so that a comment takes effect at once; the run goes on."""
        if self._current_turn is not None:
            self._current_turn.cancel()

    async def _say(self, content: Content, origin: Origin) -> None:
        state = self.state
        message = Message(state.active_context, state.tree.current_id, "user", content, origin=origin)
        await self._recorder.record(MessageAdded(message))


def can_continue(state: SessionState) -> bool:
    """Whether there is anything to go on with: a mission that is not done, or words without an answer."""
    mission = state.tree.mission
    if mission is None or state.status != "done" or state.comments or state.tree.open_goals:
        # Goals are open after the end of a run where the user went back to one of them, or added one.
        return mission is not None
    last = next(iter(reversed(state.live_log)), None)
    return last is None or last.mission_id != mission or last.message.is_users_word


__all__ = ["Runner", "can_continue"]
