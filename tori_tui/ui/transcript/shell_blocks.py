"""What the transcript shows of commands that the user runs himself.

Must not know how they are run.
"""

from __future__ import annotations

from typing import Final

from tori_tui.domain.events import ToolRunStarted
from tori_tui.domain.ids import CallId, GoalId
from tori_tui.domain.messages import Message
from tori_tui.ui.transcript.blocks import CallBlock

USERS_COMMAND: Final = "!"
"""In the place of a tool's name."""

PRIVATE_COMMAND: Final = "!!"


def shell_block(event: ToolRunStarted, goal_id: GoalId | None, now_s: float) -> CallBlock:
    """Return a command that runs."""
    arguments = {"command": event.title}
    return CallBlock(
        event.call_id, USERS_COMMAND, arguments, state="running", started_s=now_s, goal_id=goal_id
    )


def ended_shell_block(call_id: CallId, message: Message) -> CallBlock:
    """Return a command that has ended, as its message tells it."""
    details = message.details
    return CallBlock(
        call_id,
        PRIVATE_COMMAND if message.interrupted else USERS_COMMAND,
        {"command": details.get("command", "")},
        state="failed" if message.is_error else "done",
        output=str(details.get("output", "")),
        details=details,
        duration_s=message.duration_s,
        full=message.full,
        goal_id=message.goal_id,
    )


__all__ = ["PRIVATE_COMMAND", "USERS_COMMAND", "ended_shell_block", "shell_block"]
