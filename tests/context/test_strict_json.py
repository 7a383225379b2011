from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from tests.context.golden_text import assert_golden
from tests.fakes.messages import assistant, call, result, state_of, user
from tori_tui.context.build import build_request
from tori_tui.context.earlier_calls import Exchange, earlier_text
from tori_tui.context.plan import plan_block
from tori_tui.context.read_reply import WrittenCall, read_reply
from tori_tui.context.strict_json import TRIGGER, Rounds, strict_json, tools_text
from tori_tui.context.system_prompt import SystemParts, rules_text
from tori_tui.domain.events import Fold, MessagesFolded, PlanChanged
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import CORRECTION, Message
from tori_tui.domain.plan_edits import GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.request import ModelProfile, ModelRequest, ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.tools.abort import AbortTool
from tori_tui.tools.goal import GoalTool

PROFILE: Final = ModelProfile("openai-chat/m", "openai-chat", "m", "m", 32_000, 4_000, native_tools=False)
SYSTEM: Final = SystemParts(
    rules_text(), "# Environment\nWorking directory: /home/me/app", "# AGENTS.md\nUse tabs."
)
TEXT: Final = {"type": "string"}
TOOLS: Final = (
    GoalTool().spec,
    AbortTool().spec,
    ToolSpec(
        "read_file",
        "Read a file as numbered lines.",
        {
            "type": "object",
            "properties": {"path": TEXT, "offset": {"type": "integer", "description": "first line"}},
            "required": ["path"],
        },
    ),
    ToolSpec(
        "bash",
        "Run a command.",
        {"type": "object", "properties": {"command": TEXT}, "required": ["command"]},
    ),
)
GOALS: Final = PlanChanged(
    (
        MissionOpened(MissionId("m1"), "make the login work"),
        GoalAdded(GoalId("1"), None, "Find the fault"),
        GoalAdded(GoalId("2"), None, "Mend it", check="pytest -q tests/test_login.py"),
        GoalFocused(GoalId("1")),
    ),
    "model",
)
FIRST_DONE: Final = PlanChanged(
    (GoalCompleted(GoalId("1"), "the hash is cut"), GoalFocused(GoalId("2"))), "model"
)


def history() -> SessionState:
    return state_of(
        GOALS,
        user("make the login work"),
        assistant("I look.", call("a", "read_file", path="login.py"), goal="1"),
        result("a", "read_file", "1\tdef login(): ...", goal="1", details={"path": "login.py"}),
        FIRST_DONE,
        MessagesFolded(
            MAIN_CONTEXT,
            "batch",
            (Fold((Seq(3), Seq(4)), '<folded goal="1">\nthe hash is cut\n</folded>', GoalId("1")),),
        ),
        assistant("", call("b", "read_file", path="hash.py"), goal="2"),
        result("b", "read_file", "1\tdef hash(text): return text[:8]", goal="2", details={"path": "hash.py"}),
        assistant("Tests first.", call("c", "bash", command="pytest -q"), goal="2"),
        result("c", "bash", "E  assert 8 == 60\n1 failed\n[exit 1]", goal="2", details={"exit_code": 1}),
        replace(user("do not touch the database", goal="2"), origin="comment"),
        assistant("", call("d", "bash", command="git diff --stat"), goal="2"),
        result("d", "bash", "(no output)\n[exit 0]", goal="2", details={"exit_code": 0}),
    )


def native(state: SessionState, profile: ModelProfile = PROFILE) -> ModelRequest:
    return build_request(state, context=MAIN_CONTEXT, profile=profile, system=SYSTEM, tools=TOOLS).request


def encoded(state: SessionState, profile: ModelProfile = PROFILE) -> ModelRequest:
    return strict_json(
        native(state, profile), plan=plan_block(state.tree), tree=state.tree, rounds=Rounds(4, 200)
    )


def shown(request: ModelRequest) -> str:
    blocks = [f"=== system: {block.name} ===\n{block.text}" for block in request.system]
    messages = [f"=== {message.role} ===\n{message.text}" for message in request.messages]
    return "\n".join([*blocks, *messages])


def test_the_request_has_every_row_in_its_place() -> None:
    request = encoded(history())
    assert request.tools == ()
    assert request.late_system is None
    assert_golden("strict_json.md", shown(request))


def test_without_a_call_there_is_neither_history_nor_pair() -> None:
    state = state_of(GOALS, user("make the login work"))
    assert_golden("strict_json_first.md", shown(encoded(state)))


def test_the_rows_stand_in_the_order_of_the_table() -> None:
    request = encoded(history())
    assert [block.name for block in request.system] == [
        *("rules", "tools", "environment", "instructions", "run", "plan"),
    ]
    assert [message.role for message in request.messages] == [
        *("user", "user", "assistant", "assistant", "user", "user"),
    ]
    words, comment, known, last_call, last_result, trigger = request.messages
    assert (words.text, comment.text) == ("make the login work", "do not touch the database")
    assert '<folded goal="1">' in known.text
    assert "def hash(text)" in known.text
    assert "Last failure: bash pytest -q (exit 1)\nE  assert 8 == 60" in known.text
    assert read_reply(last_call.text, TOOLS).steps == (WrittenCall("bash", {"command": "git diff --stat"}),)
    assert last_result.text == "Result of bash:\n(no output)\n[exit 0]"
    assert trigger.text == TRIGGER


def test_a_server_that_takes_the_role_tool_gets_the_pair_so() -> None:
    request = encoded(history(), replace(PROFILE, tool_role=True))
    assert [message.role for message in request.messages][-3:] == ["assistant", "tool", "user"]
    asking, told = request.messages[-3:-1]
    assert [call.id for call in asking.tool_calls] == ["d"]
    assert told.tool_call_id == CallId("d")


def test_the_end_of_a_goal_is_shown_as_the_model_wrote_it() -> None:
    state = state_of(
        user("go"),
        assistant("", call("a", "goal", done="it works", focus="2")),
        result("a", "goal", "Done: 1."),
    )
    assert [m.text for m in encoded(state).messages][1:3] == [
        '{"action": "next_plan", "goal_check": "it works"}',
        "Result of next_plan:\nDone: 1.",
    ]


def test_words_after_the_last_result_stand_behind_it() -> None:
    state = state_of(
        user("first"),
        assistant("", call("a", "bash", command="ls")),
        result("a", "bash", "a.py"),
        assistant("There is a.py."),
        user("second"),
    )
    assert [m.text for m in encoded(state).messages][-3:] == ["Result of bash:\na.py", "second", TRIGGER]
    assert "Answered before:\n- There is a.py." in encoded(state).messages[1].text


def test_a_correction_stands_with_its_reply_before_the_trigger() -> None:
    correction = Message(
        MAIN_CONTEXT, None, "user", "`action` is missing", origin="runner", details={CORRECTION: "x"}
    )
    state = state_of(user("go"), assistant("Sure!"), correction)
    assert [m.text for m in encoded(state).messages] == ["go", "Sure!", "`action` is missing", TRIGGER]


def test_the_tools_leave_out_what_is_an_action() -> None:
    text = tools_text(TOOLS)
    assert "abort" not in text
    assert "- done" not in text
    for example in (line for line in text.splitlines() if line.startswith("{")):
        assert read_reply(example, TOOLS).steps, example


def exchange(name: str, text: str, *, key: str, **details: object) -> Exchange:
    return Exchange(call("x", name, key=key), result("x", name, text, details=details))


def test_a_read_of_a_file_that_changed_since_is_no_longer_told() -> None:
    read = exchange("read_file", "OLD", key="a.py", path="a.py")
    other = exchange("read_file", "OTHER", key="b.py", path="b.py")
    edit = exchange("edit_file", "edited", key="edit", path="a.py", changed_paths=["a.py"])
    text = earlier_text([], [], [], [read, other, edit], 1_000)
    assert "OLD" not in text
    assert "OTHER" in text
    assert "Folded away: 1 earlier results" in text


def test_the_last_failure_is_always_told_and_whether_it_is_mended() -> None:
    red = exchange("bash", "RED", key="pytest", exit_code=1)
    green = exchange("bash", "GREEN", key="pytest", exit_code=0)
    look = exchange("bash", "LOOK", key="ls", exit_code=0)
    assert "Last failure: bash pytest (exit 1)\nRED" in earlier_text([], [], [], [red, look], 1_000)
    mended = earlier_text([], [], [], [red, green], 1_000)
    assert "Last failure: bash pytest (exit 1 and has succeeded since)\nRED" in mended


@pytest.mark.parametrize("limit_tokens", [0, 60, 600])
def test_word_for_word_is_what_has_room_newest_first(limit_tokens: int) -> None:
    parts = [exchange("bash", f"{n} " + "word " * 100, key=f"c{n}", exit_code=0) for n in range(8)]
    text = earlier_text([], [], [], parts, limit_tokens)
    told = [n for n in range(8) if f"Result of bash c{n}:" in text]
    assert told == list(range(8 - len(told), 8))
    assert len(text) < 4 * limit_tokens + 1_200
    assert (len(told) > 0) == (limit_tokens == 600)
