from __future__ import annotations

import json

import pytest

from tests.domain.trees import called, mission
from tests.fakes.scope import FakeScope
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.plan_edits import apply_edits
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.tools.abort import AbortTool
from tori_tui.tools.ask_user import AskUserTool
from tori_tui.tools.base import ArgumentsInvalid, Tool
from tori_tui.tools.goal import GoalTool


def scope(tree: GoalTree) -> FakeScope:
    return FakeScope(state=SessionState(tree=tree))


def size_tokens(spec: ToolSpec) -> int:
    told = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    # The estimate runs over by up to 15 % on the dense JSON of schemas.
    return round(estimate_tokens(json.dumps(told, ensure_ascii=False, separators=(",", ":"))) / 1.15)


async def test_edits_are_returned_and_the_tree_stays() -> None:
    tree = mission()
    output = await GoalTool().run({"add": "A, B", "focus": "1"}, scope(tree))
    assert output.text == "Added: 1 A, 2 B.\nCurrent: 1 A.\nNext pending: 2 B."
    assert not output.is_error
    assert tree == mission()
    assert [goal.id for goal in apply_edits(tree, output.edits).goals] == ["1", "2"]


async def test_refusal_is_a_result_that_says_what_to_do() -> None:
    output = await GoalTool().run({"done": "ready"}, scope(called(mission(), add="A")))
    assert output.is_error
    assert output.edits == ()
    assert "Focus the goal that you mean" in output.text
    assert "1 A" in output.text


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({"add": ["A, with comma", "B"]}, ["1", "2"]),
        ({"add": '["A", "B"]'}, ["1", "2"]),
        ({"add": "A", "focus": 1}, ["1"]),
        ({"add": "A", "done": "", "abandon": None}, ["1"]),
    ],
)
async def test_near_right_arguments_are_understood(arguments: dict[str, object], ids: list[str]) -> None:
    output = await GoalTool().run(arguments, scope(mission()))
    assert [goal.id for goal in apply_edits(mission(), output.edits).goals] == ids


async def test_unknown_parameter_is_named() -> None:
    with pytest.raises(ArgumentsInvalid, match="finish"):
        await GoalTool().run({"finish": "A"}, scope(mission()))


async def test_title_is_one_line_in_the_order_of_effect() -> None:
    preview = await GoalTool().preview({"focus": "2", "done": "line\nbreak", "add": ["A", "B"]})
    assert preview.title == "goal done line break add A, B focus 2"


@pytest.mark.parametrize(("tool", "limit"), [(GoalTool(), 220), (AskUserTool(), 60), (AbortTool(), 60)])
def test_what_the_model_is_told_stays_short_and_stable(tool: Tool, limit: int) -> None:
    assert size_tokens(tool.spec) <= limit
    assert tool.spec == tool.spec
    assert tool.effect == "none"
