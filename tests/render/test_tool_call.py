from __future__ import annotations

import pytest

from tori_tui.domain.ids import MAIN_CONTEXT, CallId
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.render.tool_call import call_title, result_line


@pytest.mark.parametrize(
    ("name", "arguments", "title"),
    [
        ("glob_files", {"pattern": "**/user*.py"}, 'glob_files("**/user*.py")'),
        ("read_file", {"path": "a.py", "offset": 10}, 'read_file("a.py")'),
        ("edit_file", {"old": "x", "path": "a.py", "new": "y"}, 'edit_file("a.py")'),
        ("grep_files", {"pattern": "def", "path": "src"}, 'grep_files("def", "src")'),
        ("goal", {"done": "found", "focus": "2'"}, 'goal(done="found", focus="2\'")'),
        ("goal", {"add": ["a", "b"]}, 'goal(add=["a", "b"])'),
        ("bash", {}, "bash()"),
        ("some_new_tool", {"n": 3, "what": "this"}, 'some_new_tool("this")'),
        ("bash", {"command": "a\x1b[31m\nb"}, 'bash("a␛[31m\\nb")'),
    ],
)
def test_the_title_names_what_says_most(name: str, arguments: JsonObject, title: str) -> None:
    assert call_title(ToolCall(CallId("c"), name, arguments)) == title


def test_broken_arguments_are_shown_as_the_model_wrote_them() -> None:
    assert call_title(ToolCall(CallId("c"), "bash", arguments_raw='{"comm\x9b')) == 'bash({"comm\\x9b)'


def test_a_huge_argument_is_cut() -> None:
    title = call_title(ToolCall(CallId("c"), "bash", {"command": "x" * 10_000_000}), 40)
    assert len(title) == 40
    assert title.endswith("…")


def test_the_result_is_its_first_line_that_says_something() -> None:
    message = Message(MAIN_CONTEXT, None, "tool", "\n  \n found \x1b it\nmore")
    assert result_line(message) == "found ␛ it"
