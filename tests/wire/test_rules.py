from __future__ import annotations

from typing import Any

import pytest

from tests.wire.rules_chat import chat_violations
from tests.wire.rules_messages import messages_violations
from tests.wire.rules_responses import responses_violations

USER = {"role": "user", "content": "Hello"}


def chat_call(call_id: str = "a", arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "bash", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def chat_result(call_id: str = "a", content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def use(call_id: str = "a") -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": call_id, "name": "bash", "input": {}}],
    }


def used(*call_ids: str, text: str = "") -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"} for call_id in call_ids]
    return {"role": "user", "content": [*blocks, *([{"type": "text", "text": text}] if text else [])]}


CALL = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "ok"}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([USER, chat_call(), chat_result(), {"role": "system", "content": "plan"}], ""),
        ([], "empty"),
        ([USER, chat_call()], "without results"),
        ([USER, chat_call(), USER, chat_result()], "without results"),
        ([USER, chat_result()], "no call before it"),
        ([USER, chat_call(), chat_result("b")], "no call before it"),
        ([USER, chat_call(), chat_result(), chat_call(), chat_result()], "used twice"),
        ([USER, chat_call(arguments="{"), chat_result()], "no JSON object"),
        ([USER, chat_call(""), chat_result("")], "without an id"),
        ([USER, chat_call(), chat_result(content=" ")], "needs content"),
        ([USER, {"role": "assistant", "content": ""}, USER], "needs content or tool_calls"),
        ([USER, USER], "alternate"),
        ([USER, {"role": "system", "content": "x"}, USER], "between others"),
        ([USER, {"role": "bot", "content": "x"}], "unknown role"),
        ([USER, {"role": "assistant", "content": "x"}], "last message"),
        ([{**USER, "goal_id": 1}], "unknown field"),
    ],
)
def test_chat_rules_find_what_servers_refuse(messages: list[Any], words: str) -> None:
    found = " ".join(chat_violations({"model": "m", "messages": messages}))
    assert (words in found) if words else found == ""


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([USER, use(), used("a", text="go on"), {"role": "system", "content": "plan"}], ""),
        ([USER, use()], "without tool_result"),
        ([USER, use(), USER], "without tool_result"),
        ([USER, used("a")], "unexpected tool_use_id"),
        ([USER, use(), used("a", "a")], "two results"),
        ([USER, use("a|1"), used("a|1")], "does not match the pattern"),
        ([USER, use(), used("a"), use(), used("a")], "must be unique"),
        ([use(), used("a")], "must use the user role"),
        ([USER, {"role": "assistant", "content": "x"}], "prefill"),
        ([USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "p"}], "follow a user"),
        ([{"role": "user", "content": " "}], "non-whitespace"),
        ([{"role": "user", "content": []}], "non-empty"),
        (
            [
                USER,
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "a", "signature": "b"}]},
                USER,
            ],
            "invalid signature",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}] * 5}],
            "a maximum of 4",
        ),
    ],
)
def test_messages_rules_find_what_the_api_refuses(messages: list[Any], words: str) -> None:
    found = " ".join(messages_violations({"model": "m", "max_tokens": 9, "messages": messages}))
    assert (words in found) if words else found == ""


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([USER, CALL, OUTPUT, {"role": "developer", "content": "plan"}], ""),
        ([USER, CALL], "no tool output found"),
        ([USER, CALL, USER], "no tool output found"),
        ([USER, OUTPUT], "no tool call found"),
        ([USER, CALL, CALL, OUTPUT], "used twice"),
        ([USER, {**CALL, "arguments": "x"}, OUTPUT], "no JSON object"),
        ([USER, {"type": "reasoning", "id": "rs", "summary": []}, USER], "required following item"),
        ([USER, {"type": "reasoning", "id": "rs", "encrypted_content": "x"}, CALL, OUTPUT], "verified"),
        ([{"role": "user", "content": ""}], "empty content"),
        ([{"type": "fold"}], "unknown item type"),
    ],
)
def test_responses_rules_find_what_the_api_refuses(items: list[Any], words: str) -> None:
    found = " ".join(responses_violations({"model": "m", "store": False, "input": items}))
    assert (words in found) if words else found == ""
