"""What a run and its goals may still spend.

Must not end a run; it says that one must.
"""

from __future__ import annotations

from tori_tui.domain.events import MessageAdded, NoticeShown, PlanChanged
from tori_tui.domain.goal_call import abandon_goal
from tori_tui.domain.goals import Budget, Goal
from tori_tui.domain.ids import NEVER
from tori_tui.domain.messages import Message
from tori_tui.domain.state import GoalStats
from tori_tui.runtime import nudges
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.limits import LimitReached, Limits, RunStart, limit_reached, run_start
from tori_tui.runtime.recorder import Recorder


class Spending:
    """Holds the limits of the runs and the budgets of goals."""

    def __init__(
        self, recorder: Recorder, asking: Asking, limits: Limits, clock: Clock, identities: Identities
    ) -> None:
        self._recorder = recorder
        self._asking = asking
        self._limits = limits
        self._clock = clock
        self._identities = identities
        self._visit = NEVER, run_start(recorder.state, clock.monotonic())
        """The switch to the agent that works, and the counters then."""
        self._start = run_start(recorder.state, clock.monotonic())

    def begin(self) -> None:
        """Start counting for a new run."""
        self._start = run_start(self._recorder.state, self._clock.monotonic())

    @property
    def start(self) -> RunStart:
        """The counters when the run began."""
        return self._start

    def seconds_left(self) -> float | None:
        """Return how long the run may still take; None where its time is not limited."""
        if self._limits.seconds is None:
            return None
        return max(0.0, self._limits.seconds - (self._clock.monotonic() - self._start.monotonic_s))

    def spent(self) -> str | None:
        """Return the limit of the run that is reached, without asking about it."""
        now_s = self._clock.monotonic()
        reached = limit_reached(self._limits, self._start, self._recorder.state, now_s)
        return None if reached is None else reached.text

    async def limit_reached(self) -> LimitReached | None:
        """Return the limit that ends the run; in the app the user may double it first."""
        while True:
            now_s = self._clock.monotonic()
            if (spent := self._agent_limit(now_s)) is not None:
                return spent
            reached = limit_reached(self._limits, self._start, self._recorder.state, now_s)
            if reached is None:
                return None
            answer = await self._asking.question(f"Limit reached: {reached.text}. Double it?", ("yes", "no"))
            if answer is None or not answer.strip().lower().startswith("y"):
                return reached
            self._limits = self._limits.raised(reached.name)
            self._recorder.announce(NoticeShown(f"Limit of {reached.name} doubled."))

    def _agent_limit(self, now_s: float) -> LimitReached | None:
        """Return the limit that the agent has reached since the switch to it."""
        agent, state = self._identities.agent, self._recorder.state
        if agent is None:
            return None
        if self._visit[0] != state.switched_at:
            self._visit = state.switched_at, run_start(state, now_s)
        budget = agent.limits
        own = Limits(budget.turns, cost_usd=budget.cost_usd, seconds=budget.seconds)
        reached = limit_reached(own, self._visit[1], state, now_s)
        return reached and LimitReached(reached.name, f"{reached.text} of the agent {agent.name}")

    async def stop_spent_goals(self) -> None:
        """Give up the outermost goal on the current path whose budget is spent; its parent goes on."""
        state = self._recorder.state
        if state.tree.current_id is None:
            return
        for goal in state.tree.path_to(state.tree.current_id):
            spent = over_budget(goal.budget, state.stats_of(goal.id)) if goal.budget else None
            if spent is None:
                continue
            edits = abandon_goal(state.tree, goal.id, f"budget spent: {spent}")
            await self._recorder.record(PlanChanged(edits, "runner"))
            await self._say(goal, spent)
            return

    async def _say(self, goal: Goal, spent: str) -> None:
        state = self._recorder.state
        text = nudges.budget_spent(goal, spent)
        message = Message(state.active_context, state.tree.current_id, "user", text, origin="runner")
        await self._recorder.record(MessageAdded(message))


def over_budget(budget: Budget, spent: GoalStats) -> str | None:
    """Return what of a goal's budget is used up, for example `5 of 5 turns`, or None."""
    if budget.turns is not None and spent.turns >= budget.turns:
        return f"{spent.turns} of {budget.turns} turns"
    if budget.cost_usd is not None and spent.cost_usd >= budget.cost_usd:
        return f"${spent.cost_usd:.2f} of ${budget.cost_usd:.2f}"
    if budget.seconds is not None and spent.duration_s >= budget.seconds:
        return f"{spent.duration_s:.0f} of {budget.seconds:.0f} seconds"
    return None


__all__ = ["Spending", "over_budget"]
