"""What was said and what is asked for, with their places in the session.

Must not know how they are shown.
"""

from __future__ import annotations

from datetime import datetime

from tori_tui.domain.events import ApprovalChanged, CallStarted, PlanChanged
from tori_tui.domain.ids import ContextId, GoalId, MissionId, Seq
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.value import Value, often_made


@often_made
class LoggedMessage(Value):
    """A message with its place in the session."""

    seq: Seq
    at: datetime
    mission_id: MissionId | None
    message: Message


@often_made
class OpenCall(Value):
    """A call that has no result yet."""

    call: ToolCall
    message_seq: Seq
    context: ContextId
    goal_id: GoalId | None
    started: CallStarted | None = None
    approval: ApprovalChanged | None = None
    plan: PlanChanged | None = None
    """What a goal call did to the plan."""

    def with_start(self, started: CallStarted) -> OpenCall:
        """Return the call with the record of its start."""
        return OpenCall(
            self.call, self.message_seq, self.context, self.goal_id, started, self.approval, self.plan
        )


__all__ = ["LoggedMessage", "OpenCall"]
