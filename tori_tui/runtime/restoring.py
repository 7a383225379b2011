"""Whether the files of a goal that is given up go back to where it began: asked for, or asked.

Must not change the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tori_tui.domain.plan_edits import GoalAbandoned, PlanEdit
from tori_tui.domain.rewind import RewindRefused
from tori_tui.domain.rewind_words import named
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.rewinding import Rewinding, RewindPlan
from tori_tui.tools.base import CallScope

RESTORE: Final = "restore"
KEEP: Final = "keep"


class Restoring:
    """Offers the restore where a goal is abandoned.

    In `auto`, and where nobody is there, the model's own wish decides; else the user is asked.
    """

    def __init__(self, recorder: Recorder, rewinding: Rewinding, *, has_user: bool) -> None:
        self._recorder = recorder
        self._rewinding = rewinding
        self._has_user = has_user

    async def offer(self, edits: Sequence[PlanEdit], scope: CallScope, *, is_asked: bool) -> str:
        """Restore the files if that is wanted, and return in words what was restored; else nothing."""
        # The goal that the model named stands last; those before it were taken along.
        ended = [edit.id for edit in edits if isinstance(edit, GoalAbandoned)]
        if self._recorder.state.mode_in_force == "plan":
            return "files not restored: mode plan only reads" if is_asked and ended else ""
        decides_itself = self._recorder.state.mode_in_force == "auto" or not self._has_user
        if not ended or (decides_itself and not is_asked):
            return ""
        try:
            plan = await self._rewinding.plan(goal=ended[-1], messages=False)
        except RewindRefused as refused:
            return f"files not restored: {refused.message}" if is_asked else ""
        if not plan.files.steps:
            return "no file to restore" if is_asked else ""
        if not decides_itself and not await self._is_wanted(plan, scope):
            return ""
        event = await self._rewinding.carry_out(plan, tells_model=False)
        left = (*event.kept, *event.left_alone)
        kept = f"; kept {named(left)}" if left else ""
        return f"restored {named(event.restored)}{kept}"

    async def _is_wanted(self, plan: RewindPlan, scope: CallScope) -> bool:
        paths = named(tuple(step.path for step in plan.files.steps))
        question = (
            f"{plan.event.title.capitalize()} is given up. Take its files back to where it began? {paths}"
        )
        answer = await scope.ask_user(question, (RESTORE, KEEP))
        return answer is not None and answer.strip().lower() == RESTORE


__all__ = ["Restoring"]
