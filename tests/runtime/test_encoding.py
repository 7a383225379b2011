from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.messages import assistant, call, result, state_of, user
from tori_tui.context.build import build_request
from tori_tui.context.system_prompt import SystemParts
from tori_tui.domain.events import PlanChanged
from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import MAIN_CONTEXT, MissionId, Seq
from tori_tui.domain.plan_edits import MissionOpened, apply_edits
from tori_tui.domain.request import ModelProfile, ToolSpec
from tori_tui.memory.model_facts import ModelFacts, TextCallers
from tori_tui.providers.fold import Reply
from tori_tui.runtime.encoding import TEXT_REPLIES_LIMIT, Encoding, ToolProtocol
from tori_tui.runtime.written_calls import WrittenCalls
from tori_tui.tools.goal import GoalTool

PROFILE: Final = ModelProfile("openai-chat/m", "openai-chat", "m", "m", 32_000, 4_000)
TOOLS: Final = (GoalTool().spec, ToolSpec("bash", "", {"properties": {"command": {"type": "string"}}}))
CALL: Final = '{"name": "bash", "arguments": {"command": "ls"}}'


def encoding(folder: Path, setting: ToolProtocol = "auto") -> Encoding:
    numbers = count(1)
    written = WrittenCalls(TOOLS, 200, lambda: f"call_{next(numbers)}")
    return Encoding(setting, TextCallers(ModelFacts(folder)), lambda: written)


def tree(*wishes: GoalWishes) -> GoalTree:
    made = apply_edits(GoalTree(), (MissionOpened(MissionId("m1"), "the mission"),))
    for wish in wishes:
        made = apply_edits(made, plan_goal_call(made, wish))
    return made


NESTED: Final = tree(GoalWishes(add=["A", "B"], focus="1"), GoalWishes(add=["A1", "A2"], focus="1.1"))
LAST_CHILD: Final = tree(GoalWishes(add=["A", "B"], focus="1"), GoalWishes(add=["A1"], focus="1.1"))
LAST_OF_ALL: Final = tree(GoalWishes(add=["A"], focus="1"), GoalWishes(add=["A1"], focus="1.1"))


@pytest.mark.parametrize(
    ("action", "plan", "expected"),
    [
        ("next_plan", NESTED, [{"done": "ok", "focus": "1.2"}]),
        ("next_plan", LAST_CHILD, [{"done": "ok"}, {"done": "ok", "focus": "2"}]),
        ("next_plan", tree(GoalWishes(add=["A"])), [{"focus": "1"}]),
        ("done", LAST_OF_ALL, [{"done": "ok"}, {"done": "ok"}]),
        ("done", NESTED, [{"done": "ok"}]),
        ("done", tree(), []),
    ],
)
def test_plan_steps_become_goal_calls_that_the_plan_allows(
    tmp_path: Path, action: str, plan: GoalTree, expected: list[dict[str, str]]
) -> None:
    reply = Reply(json.dumps({"action": action, "goal_check": "ok"}))
    understood = encoding(tmp_path, "json").understand(reply, PROFILE, plan, ())
    assert [dict(made.arguments) for made in understood.reply.tool_calls] == expected
    assert understood.answer == ("ok" if action == "done" else None)
    for made in understood.reply.tool_calls:
        wishes = GoalWishes(
            done=str(made.arguments.get("done", "")), focus=str(made.arguments.get("focus", ""))
        )
        plan = apply_edits(plan, plan_goal_call(plan, wishes))


def test_next_plan_without_a_plan_is_corrected(tmp_path: Path) -> None:
    reply = Reply('{"action": "next_plan", "goal_check": "ok"}')
    assert "no plan" in encoding(tmp_path, "json").understand(reply, PROFILE, tree(), ()).problem


def test_a_model_that_keeps_writing_calls_as_text_is_asked_for_json_and_remembered(tmp_path: Path) -> None:
    first = encoding(tmp_path)
    for number in range(TEXT_REPLIES_LIMIT):
        assert not first.is_json(PROFILE)
        understood = first.understand(Reply(CALL), PROFILE, tree(), ())
        assert [made.name for made in understood.reply.tool_calls] == ["bash"]
        assert bool(understood.notice) == (number == TEXT_REPLIES_LIMIT - 1)
    assert first.is_json(PROFILE)
    assert encoding(tmp_path).is_json(PROFILE)
    assert not encoding(tmp_path, "native").is_json(PROFILE)
    assert not encoding(tmp_path).is_json(replace(PROFILE, name="openai-chat/other"))


def test_native_calls_between_keep_the_protocol(tmp_path: Path) -> None:
    made = encoding(tmp_path)
    native = Reply("", (call("x", "bash", command="ls"),))
    for _ in range(TEXT_REPLIES_LIMIT):
        made.understand(Reply(CALL), PROFILE, tree(), ())
        made.understand(native, PROFILE, tree(), ())
    assert not made.is_json(PROFILE)


def test_native_calls_are_never_read_again_from_the_text(tmp_path: Path) -> None:
    native = Reply(CALL, (call("x", "bash", command="pwd"),))
    assert encoding(tmp_path).understand(native, PROFILE, tree(), ()).reply is native


def test_without_native_tools_the_model_is_asked_for_json(tmp_path: Path) -> None:
    without = replace(PROFILE, native_tools=False)
    assert encoding(tmp_path).is_json(without)
    assert not encoding(tmp_path, "native").is_json(without)


def test_ids_of_written_calls_are_new(tmp_path: Path) -> None:
    reply = encoding(tmp_path).understand(Reply(f"{CALL}\n{CALL}"), PROFILE, tree(), {"call_1"}).reply
    assert [made.id for made in reply.tool_calls] == ["call_2", "call_3"]


def test_a_cut_reply_is_not_corrected_but_judged_as_cut(tmp_path: Path) -> None:
    reply = Reply(CALL[:-1], stop_reason="length")
    understood = encoding(tmp_path, "json").understand(reply, PROFILE, tree(), ())
    assert (understood.reply, understood.problem) == (reply, "")


def test_in_json_a_pointer_is_shown_whole_and_the_round_is_the_runs(tmp_path: Path) -> None:
    mission = PlanChanged((MissionOpened(MissionId("m1"), "the mission"),), "user")
    pointer = replace(result("a", "bash", "ALL OF IT"), shown="(unchanged since #2)", shown_since=(Seq(2),))
    state = state_of(
        mission, user("one"), assistant("done"), user("two"), assistant("", call("a", "bash")), pointer
    )
    native = build_request(
        state, context=MAIN_CONTEXT, profile=PROFILE, system=SystemParts("rules", "here"), tools=TOOLS
    )
    built = encoding(tmp_path, "json").encode(native, state)
    assert "Round: 2/200" in built.request.system[-2].text
    assert any("ALL OF IT\n[#6]" in message.text for message in built.request.messages)
    assert built.request.tools == ()
    assert sum(section.tokens for section in built.sections) > 100
    assert encoding(tmp_path, "native").encode(native, state) is native
