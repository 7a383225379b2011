"""Finds a model that runs in a circle: the same call, the same result, nothing changed between.

Must not stop the run; it counts.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import ToolCall
from tori_tui.domain.state import LoggedMessage, SessionState

NUDGE_AT: Final = 3
STOP_AT: Final = 5
"""From DESIGN §6: the third time a nudge, the fifth stop and ask."""

POLLING_TOOLS: Final = frozenset({"bash_output"})
"""Asking again is what they are for."""

SEARCHED_MESSAGES: Final = 200
"""How far back to look; a circle is tighter than this."""


def count_repeats(state: SessionState, call: ToolCall) -> int:
    """Count how often a call with this name and these arguments gave its newest result.

    Only calls since the last change of the work tree, and since the user's last word, count. The
    call's own result must be in the log already.
    """
    if call.name in POLLING_TOOLS:
        return 0
    said = list(islice(reversed(state.live_log), SEARCHED_MESSAGES))
    name, arguments, raw = call.name, call.arguments, call.arguments_raw
    like_it = {
        made.id
        for entry in said
        for made in entry.message.tool_calls
        if made.name == name and made.arguments == arguments and made.arguments_raw == raw
    }
    newest: LoggedMessage | None = None
    last_seq = state.next_seq
    count = 0
    for entry in said:
        message = entry.message
        if message.role == "user" and message.is_users_word:
            break
        if message.role != "tool" or message.tool_call_id is None:
            continue
        if message.tool_call_id in like_it:
            newest = newest or entry
            if message.text != newest.message.text or _has_changed(state, entry.seq, last_seq):
                break
            count, last_seq = count + 1, entry.seq
            if count == len(like_it):
                break
        elif message.details.get("changed_paths"):
            break
    return count


def _has_changed(state: SessionState, after: Seq, before: Seq) -> bool:
    """Whether the saved work tree changed between two results, by anything but the first call itself."""
    for point in reversed(state.past.checkpoints):
        at_seq = point.event.at_seq or point.seq
        if at_seq <= after:
            return False
        if at_seq < before < state.next_seq:
            return True
    return False


__all__ = ["NUDGE_AT", "POLLING_TOOLS", "STOP_AT", "count_repeats"]
