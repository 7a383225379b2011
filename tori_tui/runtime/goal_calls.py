"""Runs a call of the `goal` tool: the check first, then the edits; a refusal gives the message back.

Must not know how a plan is edited; the tool and `domain.goal_call` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tori_tui.domain.events import PlanChanged
from tori_tui.domain.goal_call import GoalRefused, needs_check, plan_goal_call
from tori_tui.domain.goals import Evidence, GoalTree
from tori_tui.domain.ids import GoalId, Seq
from tori_tui.domain.messages import ToolCall
from tori_tui.domain.plan_edits import (
    EvidenceRecorded,
    GoalAbandoned,
    GoalCompleted,
    PlanEdit,
    apply_edits,
)
from tori_tui.runtime.checks import Checks
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.restoring import Restoring
from tori_tui.runtime.scope import Scopes
from tori_tui.tools.base import ArgumentsInvalid, Tool, ToolOutput
from tori_tui.tools.goal import read_wishes, wants_restore


class GoalCalls:
    """Applies what the model wishes of its plan."""

    def __init__(
        self, recorder: Recorder, tool: Tool, checks: Checks, scopes: Scopes, restoring: Restoring
    ) -> None:
        self._recorder = recorder
        self._tool = tool
        self._checks = checks
        self._scopes = scopes
        self._restoring = restoring

    async def run(self, call: ToolCall, message_seq: Seq) -> ToolOutput:
        """Apply the call's edits, or refuse it whole; an error output means refused."""
        if call.arguments_raw is not None:
            text = f"The arguments of goal are not one JSON object: {call.arguments_raw[:200]!r}."
            return await self._refused(call, message_seq, ToolOutput(text, is_error=True))
        scope = self._scopes.open(call)
        try:
            output = await self._tool.run(call.arguments, scope)
        except ArgumentsInvalid as error:
            output = ToolOutput(str(error), is_error=True)
        if output.is_error:
            return await self._refused(call, message_seq, output)
        goal = needs_check(self._recorder.state.tree, output.edits)
        if goal is None or goal.check is None:
            restored = await self._restoring.offer(
                output.edits, scope, is_asked=wants_restore(call.arguments)
            )
            edits = _with_reason(output.edits, restored)
            await self._recorder.record(PlanChanged(edits, "model", call.id))
            return replace(output, text=f"{output.text}\n{restored}".rstrip(), edits=edits)
        outcome = await self._checks.run(goal.check, goal.check_by, call, goal)
        if outcome.evidence is None or outcome.is_red:
            if outcome.evidence is not None:
                shown = EvidenceRecorded(goal.id, outcome.evidence)
                await self._recorder.record(PlanChanged((shown,), "runner"))
            text = f"Goal {goal.id} stays open: its check is red.\n{outcome.text}"
            return await self._refused(call, message_seq, ToolOutput(text, is_error=True))
        edits = _with_evidence(output.edits, outcome.evidence)
        await self._recorder.record(PlanChanged(edits, "model", call.id))
        return replace(output, text=f"{output.text}\nCheck green: {goal.check}", edits=edits)

    async def _refused(self, call: ToolCall, message_seq: Seq, output: ToolOutput) -> ToolOutput:
        """Record the refusal: the message and its results belong to the goal that is really focused."""
        goal_id = self._recorder.state.tree.current_id
        refusal = PlanChanged((), "model", call.id, output.text[:500], message_seq, goal_id)
        await self._recorder.record(refusal)
        return output


def focus_after(tree: GoalTree, calls: Sequence[ToolCall]) -> GoalId | None:
    """Return the goal to which a reply's goal calls lead if every check is green."""
    for call in calls:
        if call.name != "goal":
            continue
        try:
            tree = apply_edits(tree, plan_goal_call(tree, read_wishes(call.arguments)))
        except (ArgumentsInvalid, GoalRefused):
            break
    return tree.current_id


def _with_reason(edits: Sequence[PlanEdit], restored: str) -> tuple[PlanEdit, ...]:
    """Let the summary of the goal that was given up say what was restored."""
    if not restored:
        return tuple(edits)
    last = max(i for i, edit in enumerate(edits) if isinstance(edit, GoalAbandoned))
    return tuple(
        replace(edit, reason=f"{edit.reason} ({restored})")
        if i == last and isinstance(edit, GoalAbandoned)
        else edit
        for i, edit in enumerate(edits)
    )


def _with_evidence(edits: Sequence[PlanEdit], evidence: Evidence) -> tuple[PlanEdit, ...]:
    return tuple(replace(e, evidence=evidence) if isinstance(e, GoalCompleted) else e for e in edits)


__all__ = ["GoalCalls", "focus_after"]
