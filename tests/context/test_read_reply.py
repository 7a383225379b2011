from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.context.read_reply import PlanStep, Step, WrittenCall, calls_in_text, read_reply, written
from tori_tui.domain.request import ToolSpec


def tool(name: str, *required: str, **properties: object) -> ToolSpec:
    return ToolSpec(
        name, f"{name}.", {"type": "object", "properties": properties, "required": list(required)}
    )


TEXT: Final = {"type": "string"}
TOOLS: Final = (
    tool("read_file", "path", path=TEXT, offset={"type": "integer"}),
    tool("bash", "command", command=TEXT, background={"type": "boolean"}),
    tool("goal", add={"anyOf": [TEXT, {"type": "array"}]}, done=TEXT, focus=TEXT),
    tool("ask_user", "question", question=TEXT, options={"type": "array"}),
    tool("abort", "reason", reason=TEXT),
)
READ: Final = WrittenCall("read_file", {"path": "a.py"})
PLAIN: Final = '{"name": "read_file", "arguments": {"path": "a.py"}}'
STRICT: Final = '{"action": "continue", "tool_call": ' + PLAIN + "}"

NEARLY_RIGHT: Final[Mapping[str, str]] = {
    "as asked": STRICT,
    "bare call": PLAIN,
    "fenced": f"```json\n{STRICT}\n```",
    "tagged": f"<tool_call>\n{PLAIN}\n</tool_call>",
    "preamble": f"I look at the file first.\n\n{STRICT}",
    "arguments as text": '{"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}',
    "python": "{'name': 'read_file', 'arguments': {'path': 'a.py',},}",
    "trailing commas": '{"name": "read_file", "arguments": {"path": "a.py",},}',
    "unclosed": PLAIN[:-1],
    "unclosed and fenced": f"```json\n{STRICT[:-1]}\n```",
    "unclosed and tagged": f"<tool_call>{PLAIN[:-1]}</tool_call>",
    "a list": f"[{PLAIN}]",
    "as the API has it": '{"id": "x", "type": "function", "function": ' + PLAIN + "}",
    "parameters": '{"tool": "read_file", "parameters": {"path": "a.py"}}',
}


@pytest.mark.parametrize("text", NEARLY_RIGHT.values(), ids=NEARLY_RIGHT.keys())
def test_nearly_right_json_is_the_call_in_both_protocols(text: str) -> None:
    assert read_reply(text, TOOLS).steps == (READ,)
    assert calls_in_text(text, TOOLS).steps == (READ,)


def test_the_words_before_a_call_are_kept_without_its_fence() -> None:
    text = f"I look.\n\n```json\n{PLAIN}\n```"
    assert read_reply(text, TOOLS).prose == "I look."
    assert calls_in_text(text, TOOLS).prose == "I look."


@pytest.mark.parametrize("between", ["\n", "\n\n", ", ", "</tool_call>\n<tool_call>", "\n```\n```json\n"])
def test_several_in_a_row_are_several_calls(between: str) -> None:
    second = PLAIN.replace("a.py", "b.py")
    steps = (READ, WrittenCall("read_file", {"path": "b.py"}))
    assert read_reply(PLAIN + between + second, TOOLS).steps == steps
    assert calls_in_text(PLAIN + between + second, TOOLS).steps == steps


def test_what_follows_a_made_up_result_is_not_run() -> None:
    text = f"{STRICT}\nResult of read_file:\n1 x\n" + STRICT.replace("a.py", "b.py")
    assert read_reply(text, TOOLS).steps == (READ,)
    assert calls_in_text(text, TOOLS).steps == ()


@pytest.mark.parametrize(
    "text",
    [
        "The call would be " + PLAIN + " but I do not make it.",
        '{"name": "rm_file", "arguments": {"path": "a.py"}}',
        '{"name": "read_file", "arguments": {"file": "a.py"}}',
        '{"name": "read_file", "arguments": {}}',
        '{"name": "read_file"}',
        '{"name": "read_file", "arguments": ["a.py"]}',
        '{"name": "read_file", "name": "bash", "arguments": {"path": "a.py"}}',
        '{"name": "read_file", "arguments": {"path": "a.py"',
        '{"name": "read_file", "arguments": {"path": "a.p',
        '{"name": "read_file", "arguments": {"path": "say "hi""}}',
        'x = {"a": 1}',
        "no JSON {here} at all",
    ],
)
def test_what_is_not_certain_is_no_call(text: str) -> None:
    assert calls_in_text(text, TOOLS).steps == ()
    assert calls_in_text(text, TOOLS).prose == text


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"name": "read_file", "arguments": {"file": "a.py"}}', "`file`"),
        ('<tool_call>{"name": "ls", "arguments": {}}</tool_call>', "`name` is 'ls'"),
        ('<tool_call>{"name": "bash", "arguments": {"command": "say "hi""}}</tool_call>', "cannot be read"),
        ('{"name": "ls", "arguments": {}}', ""),
        ('{"name": "bash", "arguments": {"command": "say "hi""}}', ""),
    ],
)
def test_a_native_model_is_told_only_what_was_meant_as_a_call(text: str, field: str) -> None:
    problem = calls_in_text(text, TOOLS).problem
    assert field in problem
    assert bool(problem) == bool(field)


def test_a_call_inside_a_text_that_cannot_be_read_is_never_run() -> None:
    inner = '{"name": "bash", "arguments": {"command": "rm -r x"}}'
    text = '{"name": "write_file", "arguments": {"content": "say "so" ' + inner + '"}}'
    assert calls_in_text(text, TOOLS).steps == ()
    assert read_reply(text, TOOLS).steps == ()


def test_a_reply_that_was_cut_lacks_more_than_a_brace() -> None:
    assert calls_in_text(PLAIN[:-1], TOOLS, is_cut=True).steps == ()
    assert read_reply(STRICT[:-1], TOOLS, is_cut=True).problem


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('{"action": "next_plan", "goal_check": "tests pass"}', PlanStep("tests pass")),
        ('{"action": "done", "goal_check": "all green"}', PlanStep("all green", is_end=True)),
        ('{"action": "ask_user", "question": "Which?"}', WrittenCall("ask_user", {"question": "Which?"})),
        (
            '{"action": "ask_user", "question": "Which?", "options": ["a", "b"]}',
            WrittenCall("ask_user", {"question": "Which?", "options": ["a", "b"]}),
        ),
        ('{"action": "abort", "reason": "no disk"}', WrittenCall("abort", {"reason": "no disk"})),
        (
            '{"action": "confirm", "tool_call": {"name": "bash", "arguments": {"command": "ls"}}}',
            WrittenCall("bash", {"command": "ls"}),
        ),
        ('{"action": "continue", "tool_call": {"name": "read_file", "path": "a.py"}}', READ),
        ('{"action": "read_file", "args": {"path": "a.py"}}', READ),
        ('{"name": "abort", "arguments": {"reason": "x"}}', WrittenCall("abort", {"reason": "x"})),
    ],
)
def test_every_action_is_read(text: str, step: Step) -> None:
    assert read_reply(text, TOOLS).steps == (step,)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("I am done.", "`action`"),
        ('{"answer": 42}', "`action` is missing"),
        ('{"action": "think"}', "'think'"),
        ('{"action": "continue"}', "`tool_call` is missing"),
        ('{"action": "continue", "tool_call": "ls"}', "`tool_call` must be an object"),
        ('{"action": "continue", "tool_call": {"name": "ls", "arguments": {}}}', "`name` is 'ls'"),
        ('{"action": "continue", "tool_call": {"name": "bash", "arguments": {}}}', "`command` is missing"),
        ('{"action": "continue", "tool_call": {"name": "bash", "arguments": {"cmd": 1}}}', "`cmd`"),
        (
            '{"action": "continue", "tool_call": {"name": "read_file", "arguments": {"path": []}}}',
            "`path` must be string",
        ),
        ('{"action": "done"}', "`goal_check` is missing"),
        ('{"action": "next_plan", "goal_check": " "}', "`goal_check` is missing"),
        ('{"action": "ask_user"}', "`question` is missing"),
        ('{"action": "abort"}', "`reason` is missing"),
        ('{"action": "done", "goal_check": "say "so""}', "cannot be read"),
    ],
)
def test_a_problem_names_the_field(text: str, field: str) -> None:
    reading = read_reply(text, TOOLS)
    assert field in reading.problem
    assert reading.steps == ()
    assert reading.prose == text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SIGNS: Final = ["{", "}", "[", "]", '"', "'", ",", ":", "\\", "\\u12", " ", "\n", "\ud800", "1e9", "None"]
WORDS: Final = [
    "name",
    "action",
    '"arguments"',
    "tool_call",
    "bash",
    "```json\n",
    "<tool_call>",
    PLAIN,
    STRICT,
]
PIECES: Final = st.sampled_from([*SIGNS, *WORDS])


@given(st.text() | st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join), st.booleans())
def test_no_text_stops_the_reader_and_what_it_reads_it_reads_again(text: str, is_cut: bool) -> None:
    for reading in (read_reply(text, TOOLS, is_cut=is_cut), calls_in_text(text, TOOLS, is_cut=is_cut)):
        assert not (reading.problem and reading.steps)
        for step in reading.steps:
            assert read_reply(written(step), TOOLS).steps == (step,)


@given(st.text(min_size=1).filter(str.strip), st.booleans(), JSON_VALUES)
def test_any_step_survives_being_written(text: str, flag: bool, value: object) -> None:
    tools = (*TOOLS, ToolSpec("any", "", {"type": "object", "properties": {"value": {}}}))
    steps: tuple[Step, ...] = (
        WrittenCall("bash", {"command": text, "background": flag}),
        WrittenCall("any", {"value": value}),
        PlanStep(text, is_end=flag),
        WrittenCall("abort", {"reason": text}),
    )
    for step in steps:
        assert read_reply(written(step, is_write=flag), tools).steps == (step,)
        assert read_reply("```\n" + written(step) + "\n```", tools).steps == (step,)
    arguments = {"value": value}
    python = f"{{'name': 'any', 'arguments': {json.dumps(json.dumps(arguments))}}}"
    assert read_reply(python, tools).steps == (WrittenCall("any", arguments),)
