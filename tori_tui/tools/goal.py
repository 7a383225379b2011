"""The tool `goal`: the model's hand on the plan.

Must not change the plan; it returns edits, which the runner checks, records and applies.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from tori_tui.domain.goal_call import GoalRefused, GoalWishes, describe_outcome, plan_goal_call
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_edits import apply_edits
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "goal"

TITLE_LIMIT_CHARS: Final = 100


class _Parameters(msgspec.Struct, frozen=True):
    add: Annotated[str | list[str] | None, msgspec.Meta(description="goals by newlines or commas")] = None
    done: Annotated[str | None, msgspec.Meta(description="summary of the finished goal")] = None
    abandon: Annotated[str | None, msgspec.Meta(description="reason")] = None
    focus: Annotated[str | None, msgspec.Meta(description="id to work on now")] = None
    restore: Annotated[bool, msgspec.Meta(description="with abandon: undo its file changes")] = False


class GoalTool:
    """Adds goals, moves the focus, and ends the focused goal."""

    name: Final = NAME
    effect: Final[Effect] = "none"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say in one line what is asked for."""
        asked = parse(_Parameters, arguments, NAME)
        wishes = {"done": asked.done, "abandon": asked.abandon, "add": asked.add, "focus": asked.focus}
        said = "  ".join(f"{verb} {_flat(wish)}" for verb, wish in wishes.items() if wish)
        return Preview(one_line(f"{NAME} {said}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return the edits that the call comes to, or why the plan does not allow it."""
        try:
            edits = plan_goal_call(scope.state.tree, read_wishes(arguments))
        except GoalRefused as refusal:
            return ToolOutput(str(refusal), is_error=True)
        tree = scope.state.tree
        return ToolOutput(describe_outcome(tree, apply_edits(tree, edits), edits), edits=edits)


def read_wishes(arguments: JsonObject) -> GoalWishes:
    """Return the arguments of a goal call as the plan understands them.

    Raises:
        ArgumentsInvalid: The arguments do not fit.
    """
    asked = parse(_Parameters, arguments, NAME)
    return GoalWishes(asked.add, asked.done, asked.abandon, asked.focus)


def wants_restore(arguments: JsonObject) -> bool:
    """Say whether the call asks to take back the files of the goal that it abandons.

    Raises:
        ArgumentsInvalid: The arguments do not fit.
    """
    asked = parse(_Parameters, arguments, NAME)
    return asked.restore and bool(asked.abandon and asked.abandon.strip())


def _flat(wish: str | list[str]) -> str:
    return wish if isinstance(wish, str) else ", ".join(wish)


__all__ = ["GoalTool", "read_wishes", "wants_restore"]
