"""What Tab makes of a draft: commands, what stands behind them, and files behind an `@`.

Must not search; it offers what a word is the beginning of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from tori_tui.domain.events import Mode
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.plan_command import PLAN_WORDS
from tori_tui.ui.actions import ACTIONS
from tori_tui.ui.outside import Outside
from tori_tui.ui.slash import SLASH_HELP


def completions(draft: str, tree: GoalTree, outside: Outside) -> tuple[str, ...]:
    """Return the drafts that Tab may make of one; none where nothing fits."""
    before, at, path = draft.rpartition("@")
    if at and not path.count(" ") and not path.count("\n") and (not before or before[-1].isspace()):
        return tuple(f"{before}@{found}" for found in outside.paths(path))
    if not draft.startswith("/") or "\n" in draft:
        return ()
    word, space, rest = draft[1:].partition(" ")
    if not space:
        return tuple(f"/{name} " for name in _commands() if name.startswith(word))
    lead, _, start = rest.rpartition(" ")
    lead = f"{lead} " if lead else ""
    offered = _behind(word, lead, tree, outside)
    return tuple(f"/{word} {lead}{offer}" for offer in offered if offer.startswith(start))


def _commands() -> Sequence[str]:
    return sorted({*SLASH_HELP, *(action.slash for action in ACTIONS if action.slash)})


def _behind(word: str, lead: str, tree: GoalTree, outside: Outside) -> Sequence[str]:
    """Return what may stand behind a command and the words that are there already."""
    goals = [goal.id for root in tree.mission_goals for goal in root.walk()]
    match word, lead:
        case "plan", "":
            return (*(f"{each} " for each in PLAN_WORDS), "edit")
        case "plan", _ if lead.strip() in PLAN_WORDS and lead != "add ":
            return goals
        case (("retry" | "rewind"), ""):
            return goals
        case "mode", "":
            return get_args(Mode)
        case "agent", ("" | "close "):
            return outside.agents()
        case _:
            return ()


__all__ = ["completions"]
