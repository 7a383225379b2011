"""What a branch's session came to, read from its state.

Pure. Must not know how it was run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tori_tui.domain.branch_events import BranchOutcome, CheckColour
from tori_tui.domain.state import SessionState
from tori_tui.runtime.branches.work import BranchResult

NOTHING_SAID: Final = "the model says nothing"
"""How a run ends whose last messages were empty; see `ending`."""


def concluded(state: SessionState, *, has_check: bool) -> BranchResult:
    """Return outcome, reason, check and conclusion of a branch whose run has ended."""
    outcome = _outcome(state)
    is_whole = outcome == "finished"
    conclusion = _last_words(state) if is_whole else "\n\n".join(_findings(state))
    reason = state.reason if not is_whole or state.status != "done" else ""
    check: CheckColour = ""
    if has_check and state.status == "done":
        check = "green"
    elif has_check and state.cause == "check_red":
        check = "red"
    return BranchResult(outcome, reason, conclusion=conclusion, check=check)


def _outcome(state: SessionState) -> BranchOutcome:
    match state.status, state.cause:
        case "done", _:
            return "finished" if _last_words(state) else "empty"
        case "failed", _:
            return "failed"
        case "limit", _:
            return "limit"
        case "incomplete", "limit":
            return "limit"
        case "incomplete", _:
            return "empty" if state.reason == NOTHING_SAID else "finished"
        case _:
            return "interrupted"


def _last_words(state: SessionState) -> str:
    """Return the last thing that the branch itself said; what it inherited stands before its mission."""
    said = (entry.message for entry in reversed(state.log) if entry.mission_id is not None)
    texts = (m.text.strip() for m in said if m.role == "assistant" and not m.interrupted)
    return next((text for text in texts if text), "")


def _findings(state: SessionState) -> Iterator[str]:
    """Yield what a branch that was cut off had found: its ended goals, then its last words."""
    for goal in state.tree.walk():
        if goal.status == "completed" and goal.summary:
            yield f"{goal.id} {goal.description}: {goal.summary}"
    if words := _last_words(state):
        yield words


__all__ = ["concluded"]
