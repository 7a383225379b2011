"""Finds a model that runs in a circle: the same call, the same result, nothing changed between.

Must not stop the run; it counts.
"""

from __future__ import annotations

import json
from typing import Final

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.state import SessionState

NUDGE_AT: Final = 3
STOP_AT: Final = 5
"""From DESIGN §6: the third time a nudge, the fifth stop and ask."""

POLLING_TOOLS: Final = frozenset({"bash_output"})
"""Asking again is what they are for."""

SEARCHED_MESSAGES: Final = 200
"""How far back to look; a circle is tighter than this."""


def count_repeats(state: SessionState, call: ToolCall) -> int:
    """Count how often a call with this name and these arguments gave its newest result.

    Only calls since the last change of the work tree by a file tool, and since the user's last
    word, count. The call's own result must be in the log already.
    """
    if call.name in POLLING_TOOLS:
        return 0
    calls = _calls_by_id(state)
    wanted = _key(call)
    newest: Message | None = None
    count = 0
    for message in _newest_first(state):
        if message.role == "user" and message.is_users_word:
            break
        if message.role != "tool" or message.tool_call_id is None:
            continue
        made = calls.get(message.tool_call_id)
        if made is not None and _key(made) == wanted:
            newest = newest or message
            if message.text != newest.text:
                break
            count += 1
        elif message.details.get("changed_paths"):
            break
    return count


def _newest_first(state: SessionState) -> list[Message]:
    log = state.log
    first = max(0, len(log) - SEARCHED_MESSAGES)
    return [log[i].message for i in range(len(log) - 1, first - 1, -1)]


def _calls_by_id(state: SessionState) -> dict[CallId, ToolCall]:
    return {call.id: call for message in _newest_first(state) for call in message.tool_calls}


def _key(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)} {call.arguments_raw or ''}"


__all__ = ["NUDGE_AT", "POLLING_TOOLS", "STOP_AT", "count_repeats"]
