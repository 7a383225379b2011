"""What stays in the view of a goal whose work was cancelled: one message with the facts.

Pure. Must not touch the user's own words, nor what other goals left.
"""

from __future__ import annotations

from typing import Final

from tori_tui.context.fold_text import fold_text, mission_fold_text
from tori_tui.domain.events import Fold, MessagesFolded
from tori_tui.domain.ids import ContextId, GoalId
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.state import SessionState

RULE: Final = "cancelled"

LAST_WORDS_LIMIT_CHARS: Final = 400


def cancelled_digest(
    state: SessionState, context: ContextId, goal_id: GoalId | None
) -> MessagesFolded | None:
    """Return the rewrite that leaves only a digest of a goal's own messages, or None if there are none."""
    entries = [
        entry
        for entry in state.view(context).entries
        if entry.message.goal_id == goal_id and not entry.message.is_users_word
    ]
    if goal_id is None:
        # The mission's own segment goes back to its prompt only, not into earlier missions.
        entries = [entry for entry in entries if entry.seqs[0] > _mission_start(state)]
    if not any(entry.message.role == "assistant" for entry in entries):
        return None
    seqs = tuple(seq for entry in entries for seq in entry.seqs)
    messages = [entry.message for entry in entries]
    goal = state.tree.find(goal_id) if goal_id is not None else None
    if goal is None:
        text = mission_fold_text(state.tree.current_mission, messages)
    else:
        text = fold_text(goal, messages)
    said = _last_words(messages)
    return MessagesFolded(
        context,
        f"work on {goal_id or 'the mission'} was cancelled",
        (Fold(seqs, f"{text}\n{said}".strip(), goal_id),),
        RULE,
    )


def _mission_start(state: SessionState) -> int:
    mission = state.tree.mission
    return next((entry.seq for entry in state.log if entry.mission_id == mission), 0)


def _last_words(messages: list[Message]) -> str:
    texts = [m.text for m in messages if m.role == "assistant" and m.text.strip()]
    if not texts:
        return "[Cancelled here.]"
    return f"[Cancelled here. Last said: {one_line(texts[-1], LAST_WORDS_LIMIT_CHARS)}]"


__all__ = ["RULE", "cancelled_digest"]
