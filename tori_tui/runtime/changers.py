"""Which tools may change the work tree, and when one of them last did.

Must not look at the work tree; only at the records.
"""

from __future__ import annotations

from typing import Final

from tori_tui.domain.ids import Seq
from tori_tui.domain.state import SessionState

CHANGERS: Final = frozenset({"write_file", "edit_file", "bash"})
"""Tools whose calls may turn a green check red."""


def last_change(state: SessionState) -> Seq:
    """Return the record of the newest result that may have changed the work tree; 0 if there is none."""
    log = state.log
    for index in range(len(log) - 1, -1, -1):
        message = log[index].message
        if message.role == "tool" and message.name in CHANGERS:
            return log[index].seq
    return Seq(0)


__all__ = ["CHANGERS", "last_change"]
