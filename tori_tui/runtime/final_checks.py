"""The checks that run when the model says that it is finished: of the mission, and of its done goals.

Must not decide what a red one means; `ending` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from tori_tui.domain.goals import Goal, Mission
from tori_tui.domain.ids import CallId, Seq
from tori_tui.domain.messages import ToolCall
from tori_tui.runtime.changers import last_change
from tori_tui.runtime.checks import CheckOutcome, Checks
from tori_tui.runtime.recorder import Recorder


class FinalChecks:
    """Runs checks as calls of the runner's own."""

    def __init__(self, recorder: Recorder, checks: Checks, new_id: Callable[[], str]) -> None:
        self._recorder = recorder
        self._checks = checks
        self._new_id = new_id

    async def of_mission(self, mission: Mission) -> CheckOutcome:
        """Run a mission's own check; a mission without one is an error of the caller's."""
        assert mission.check is not None
        return await self._checks.run(mission.check, "user", self._call(mission.check), None)

    async def of_goals(self) -> AsyncIterator[tuple[Goal, CheckOutcome]]:
        """Run again the checks of done goals after whose end something was changed, each command once."""
        state = self._recorder.state
        changed_at = last_change(state)
        outcomes: dict[str, CheckOutcome] = {}
        for root in state.tree.mission_goals:
            for goal in root.walk():
                ended_at = state.ended_at.get(goal.id, Seq(0))
                if goal.status != "completed" or goal.check is None or ended_at > changed_at:
                    continue
                if goal.superseded_by is not None:
                    continue
                if goal.check not in outcomes:
                    call = self._call(goal.check)
                    outcomes[goal.check] = await self._checks.run(goal.check, goal.check_by, call, goal)
                yield goal, outcomes[goal.check]

    def _call(self, command: str) -> ToolCall:
        return ToolCall(CallId(f"check_{self._new_id()}"), "bash", {"command": command})


__all__ = ["FinalChecks"]
