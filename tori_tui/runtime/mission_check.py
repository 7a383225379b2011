"""The check of a whole mission (`--check`), run when the model says that it is finished.

Must not decide what a red one means; the runner does.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.domain.goals import Mission
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ToolCall
from tori_tui.runtime.checks import CheckOutcome, Checks


class MissionCheck:
    """Runs a mission's check as a call of the runner's own."""

    def __init__(self, checks: Checks, new_id: Callable[[], str]) -> None:
        self._checks = checks
        self._new_id = new_id

    async def run(self, mission: Mission) -> CheckOutcome:
        """Run the check; a mission without one is an error of the caller's."""
        assert mission.check is not None
        call = ToolCall(CallId(f"check_{self._new_id()}"), "bash", {"command": mission.check})
        return await self._checks.run(mission.check, "user", call, None)


__all__ = ["MissionCheck"]
