"""What the runner says to the model on its own: short, in one place, never kept as the user's word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tori_tui.domain.goals import Goal

CUT_AT_LIMIT: Final = "Your answer was cut at the output limit. Go on where it ended; write less at once."

SAID_NOTHING: Final = "Your reply was empty. Give the answer, or make the next call."


def goals_open(goals: Sequence[Goal]) -> str:
    """Name the goals that a reply without calls left open."""
    names = "; ".join(f"{goal.id} {goal.description}" for goal in goals[:7])
    return (
        f"Goals are still open: {names}. Go on with the next step. Where one is finished or not needed, "
        "say so with goal(done=…) or goal(abandon=…)."
    )


def check_red(output: str) -> str:
    """Show the mission's red check."""
    return f"The mission's check is red, so it is not done yet. Mend it.\n{output}"


def circling(tool: str, times: int) -> str:
    """Say that the same call gave the same result again."""
    return (
        f"You made the same {tool} call {times} times and got the same result, with no file changed between. "
        "It will not change by itself: use what it says, or try another way."
    )


__all__ = ["CUT_AT_LIMIT", "SAID_NOTHING", "check_red", "circling", "goals_open"]
