"""The exchange in which a model is told what was wrong with its reply: recorded, and gone from the view.

Must not judge replies; it is told what was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tori_tui.domain.events import Fold, MessageAdded, MessagesFolded
from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import CORRECTION, Message
from tori_tui.domain.state import SessionState
from tori_tui.runtime.recorder import Recorder

CORRECTIONS_LIMIT: Final = 2
"""In a row; a reply that still cannot be read is taken for an answer, and the run judges it as one."""

RULE: Final = "correction"


class Corrections:
    """The corrections of one session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def add(self, text: str, thinking: str, problem: str, remedy: str) -> None:
        """Record a reply that was not understood, and what was wrong with it."""
        state = self._recorder.state
        context, goal_id = state.active_context, state.tree.current_id
        reply = Message(context, goal_id, "assistant", text, thinking=thinking)
        told = f"That answer was not understood: {problem}. {remedy}"
        correction = Message(context, goal_id, "user", told, origin="runner", details={CORRECTION: problem})
        await self._recorder.record(MessageAdded(reply))
        await self._recorder.record(MessageAdded(correction))

    async def remove(self) -> None:
        """Take every such exchange out of the view of the active context."""
        found = list(_exchanges(self._recorder.state))
        if not found:
            return
        folds = tuple(Fold(seqs, "") for seqs, _ in found)
        reason = f"{RULE}: {found[-1][1]}"
        context = self._recorder.state.active_context
        await self._recorder.record(MessagesFolded(context, reason, folds, RULE))


def _exchanges(state: SessionState) -> Iterator[tuple[tuple[Seq, ...], str]]:
    """Yield the records of each exchange in the view, and what was wrong."""
    entries = state.view(state.active_context).entries
    for at, entry in enumerate(entries):
        if CORRECTION in entry.message.details:
            before = entries[at - 1] if at else None
            is_reply = before is not None and before.message.role == "assistant"
            seqs = (*before.seqs, *entry.seqs) if before is not None and is_reply else entry.seqs
            yield seqs, str(entry.message.details[CORRECTION])


__all__ = ["CORRECTIONS_LIMIT", "Corrections"]
