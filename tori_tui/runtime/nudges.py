"""What the runner says to the model on its own: short, in one place, never kept as the user's word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from tori_tui.domain.events import CommentRouted
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import (
    EvidenceRecorded,
    GoalAbandoned,
    GoalAdded,
    GoalBudgetSet,
    GoalCheckSet,
    GoalCompleted,
    GoalFocused,
    GoalMoved,
    GoalPinned,
    GoalRenamed,
    MissionCheckSet,
    MissionOpened,
    PlanEdit,
)
from tori_tui.domain.plan_text import USER_EDITED, one_line

TITLE_LIMIT_CHARS: Final = 80

CUT_AT_LIMIT: Final = "Your answer was cut at the output limit. Go on where it ended; write less at once."

SAID_NOTHING: Final = "Your reply was empty. Give the answer, or make the next call."


def goals_open(goals: Sequence[Goal]) -> str:
    """Name the goals that a reply without calls left open."""
    names = "; ".join(f"{goal.id} {goal.description}" for goal in goals[:7])
    return (
        f"Goals are still open: {names}. Go on with the next step. Where one is finished or not needed, "
        "say so with goal(done=…) or goal(abandon=…)."
    )


def lent_open(goal: Goal) -> str:
    """Say that a goal that was given to an agent ends with its result."""
    return (
        f"Goal {goal.id} is still open. End it with goal(done=your result) or goal(abandon=reason): of what "
        "you say here the others see nothing."
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


def routed(event: CommentRouted, tree: GoalTree) -> str:
    """Say what the comment that follows means for the plan; empty where it simply joins the context."""
    goals = ", ".join(event.goal_ids)
    match event.impact:
        case "future":
            changed = edits_text(event.edits, tree)
            return f"The user's next words are for later. {changed} Go on with what you do."
        case "past":
            return (
                f"The user's next words are about goal {goals}, which had ended already. "
                f"{edits_text(event.edits, tree)} What is done stands; see with goal calls what of the rest "
                "still fits, then go on with the current goal."
            )
        case "requirement_change":
            return (
                "The work was stopped: the user's next words change the mission. What is done stands in the "
                "summaries. Replan all that is left: abandon what no longer fits, add what is missing, focus."
            )
        case "current" if event.cancels:
            return (
                f"The work was stopped: the user's next words turn down how goal {goals or 'in work'} "
                "is done. The digest says what was tried. Begin it again the way the user wants."
            )
        case "current":
            return ""
        case _:
            assert_never(event.impact)


def edits_text(edits: Sequence[PlanEdit], tree: GoalTree) -> str:
    """Tell changes of the plan in a line each, short."""
    return " ".join(line for edit in edits if (line := _edit_text(edit, tree)))


def _edit_text(edit: PlanEdit, tree: GoalTree) -> str:
    about_mission = isinstance(edit, (MissionOpened, MissionCheckSet))
    goal = None if about_mission or edit.id is None else tree.find(GoalId(edit.id))
    title = f"{goal.id} {one_line(goal.description, TITLE_LIMIT_CHARS)}" if goal else ""
    match edit:
        case GoalAdded():
            return (
                f"New goal: {title}." if edit.replaces is None else f"Goal {title} takes up {edit.replaces}."
            )
        case GoalFocused():
            return f"Current goal: {title}." if goal else "No goal is focused."
        case GoalCompleted():
            return f"Done: {title}."
        case GoalAbandoned():
            return f"Dropped: {title}."
        case GoalRenamed():
            return f"Goal {title}: reads so now."
        case GoalMoved():
            return f"Moved: {title}."
        case GoalCheckSet():
            return f"Check of {title}: {edit.check or 'none'}."
        case GoalBudgetSet() | GoalPinned() | EvidenceRecorded() | MissionOpened() | MissionCheckSet():
            return ""
        case _:
            assert_never(edit)


def plan_edited(edits: Sequence[PlanEdit], tree: GoalTree) -> str:
    """Tell the model what the user changed in the plan; empty where it need not know."""
    text = edits_text(edits, tree)
    return f"{USER_EDITED}{text}" if text else ""


def budget_spent(goal: Goal, spent: str) -> str:
    """Say that a goal may not go on."""
    return (
        f"Goal {goal.id} stopped: its budget is spent ({spent}). Say in one or two lines what it reached and "
        "what is missing, then go on with the rest of the plan."
    )


def checks_red_again(outputs: Sequence[str]) -> str:
    """Show the checks of finished goals that later work turned red."""
    return "Checks of finished goals are red again. Mend what broke them.\n" + "\n".join(outputs)


__all__ = [
    "CUT_AT_LIMIT",
    "SAID_NOTHING",
    "budget_spent",
    "check_red",
    "checks_red_again",
    "circling",
    "edits_text",
    "goals_open",
    "lent_open",
    "plan_edited",
    "routed",
]
