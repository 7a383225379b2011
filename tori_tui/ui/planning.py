"""The user's own changes of the plan, from keys in the tree, the input and the editor.

Must not change a goal: edits go over the bridge, and what the plan does not allow is told.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.plan_page import read_plan_page
from tori_tui.ui import plan_intents
from tori_tui.ui.bridge import Bridge
from tori_tui.ui.widgets.comment_input import Purpose
from tori_tui.ui.widgets.goal_tree import GoalIntent


class Planning:
    """Turns intents into edits.

    Args:
        bridge: Takes the edits.
        tree: The plan as it stands.
        tell: Shows a word of the app's own, as `info` or `warning`.
    """

    def __init__(
        self, bridge: Bridge, *, tree: Callable[[], GoalTree], tell: Callable[[str, str], None]
    ) -> None:
        self._bridge = bridge
        self._tree = tree
        self._tell = tell

    def do(self, intent: GoalIntent, goal_id: GoalId) -> None:
        """Do what needs no text: move a goal, focus it."""
        tree = self._tree()
        match intent:
            case "down" | "up":
                self._bridge.edit_plan(plan_intents.move(tree, goal_id, 1 if intent == "down" else -1))
            case "focus":
                self._try(lambda: plan_intents.focus(tree, goal_id))
            case _:
                pass

    def finish(self, purpose: Purpose, text: str) -> None:
        """Do what a text was written for."""
        tree, goal_id = self._tree(), purpose.goal_id
        if purpose.kind == "add":
            self._try(lambda: plan_intents.add_below(tree, goal_id, text))
        elif purpose.kind == "rename" and goal_id is not None:
            self._bridge.edit_plan(plan_intents.rename(tree, goal_id, text))
        elif goal_id is not None:
            self._try(lambda: plan_intents.drop(tree, goal_id, text))

    def take_page(self, tree: GoalTree, page: str) -> None:
        """Make the plan what a page says that was written from that tree."""
        self._try(lambda: read_plan_page(tree, page))

    def _try(self, edits: Callable[[], tuple[PlanEdit, ...]]) -> None:
        try:
            self._bridge.edit_plan(edits())
        except GoalRefused as refused:
            self._tell(str(refused), "warning")


def purpose_of(intent: GoalIntent, tree: GoalTree, goal_id: GoalId | None) -> tuple[Purpose, str] | None:
    """Return what the input is to be for and what stands in it; None where an intent needs no text."""
    goal = tree.find(goal_id) if goal_id else None
    if intent == "add":
        where = f"add below {goal.id}" if goal is not None and goal.is_open else "add to the plan"
        return Purpose("add", f"{where}: one a line", goal_id), ""
    if goal is None:
        return None
    match intent:
        case "comment":
            return Purpose("goal_comment", f"comment on goal {goal.id}", goal.id), ""
        case "rename":
            return Purpose("rename", f"rename goal {goal.id}", goal.id), goal.description
        case "drop":
            return Purpose("drop", f"drop goal {goal.id}? Enter drops it · Esc keeps it", goal.id), ""
        case "rewind":
            what = f"back to where goal {goal.id} began, files too? Enter goes · Esc stays"
            return Purpose("rewind", what, goal.id), ""
        case _:
            return None


__all__ = ["Planning", "purpose_of"]
