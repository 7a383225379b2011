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


__all__ = ["LoggedMessage", "OpenCall"]
