"""What the Chat Completions API itself demands of a request, and what strict templates demand.

Written from the API reference and from the refusals of compatible servers, not from the encoder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

KNOWN_KEYS = {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "reasoning_effort"}
KNOWN_KEYS |= {"max_tokens", "max_completion_tokens", "prompt_cache_key", "parallel_tool_calls"}

MESSAGE_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details"},
    "tool": {"role", "content", "tool_call_id"},
}


def chat_violations(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with a request; empty if a server would take it."""
    return tuple(_violations(body))


def _violations(body: Mapping[str, Any]) -> Iterator[str]:
    for key in body.keys() - KNOWN_KEYS:
        yield f"unknown parameter: {key}"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model is missing"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages is empty"
        return
    for position, message in enumerate(messages):
        yield from (f"messages[{position}]: {text}" for text in _message(message))
    yield from _order(messages)
    yield from _pairs(messages)
    yield from _tools(body.get("tools"))


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    role = message.get("role")
    if role not in MESSAGE_KEYS:
        yield f"unknown role {role!r}"
        return
    for key in message.keys() - MESSAGE_KEYS[role]:
        yield f"unknown field {key} in a {role} message"
    content = message.get("content")
    if role == "assistant":
        if not message.get("tool_calls") and not (isinstance(content, str) and content.strip()):
            yield "an assistant message needs content or tool_calls"
        if "tool_calls" in message and not message["tool_calls"]:
            yield "tool_calls is an empty list"
        if isinstance(content, str) and not content.strip():
            yield "empty assistant content"
    elif isinstance(content, list) and role == "user":
        if not content:
            yield "content is an empty list"
        for part in content:
            yield from _part(part)
    elif not isinstance(content, str) or not content.strip():
        yield f"a {role} message needs content"


def _part(part: Mapping[str, Any]) -> Iterator[str]:
    if part.get("type") == "text":
        if not str(part.get("text", "")).strip():
            yield "empty text part"
    elif part.get("type") == "image_url":
        if not re.match(r"data:image/[a-z+]+;base64,.|https?://", part.get("image_url", {}).get("url", "")):
            yield "an image_url is no image"
    else:
        yield f"unknown part {part.get('type')!r}"


def _order(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    roles = [message.get("role") for message in messages]
    if roles[-1] == "assistant":
        yield "the last message is the assistant's"
    inner = [role for role in roles[1:-1] if role == "system"]
    if inner:
        yield "a system message stands between others"
    spoken = [role for role in roles if role not in ("system", "tool")]
    for before, after in pairwise(spoken):
        if before == after == "user":
            yield "roles must alternate: two user messages in a row"
    if spoken and spoken[0] == "assistant":
        yield "the first message is the assistant's"
    for before, after in pairwise(messages):
        if before.get("role") == after.get("role") == "assistant" and not before.get("tool_calls"):
            yield "roles must alternate: two assistant messages in a row"


def _pairs(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    used: set[str] = set()
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in waiting:
                yield f"messages[{position}]: a tool message with no call before it ({call_id!r})"
            else:
                waiting.remove(call_id)
            continue
        if waiting:
            yield f"messages[{position}]: calls without results before it: {waiting}"
            waiting = []
        for call in message.get("tool_calls") or ():
            yield from (f"messages[{position}]: {text}" for text in _call(call, used))
            waiting.append(call.get("id", ""))
    if waiting:
        yield f"calls without results at the end: {waiting}"


def _call(call: Mapping[str, Any], used: set[str]) -> Iterator[str]:
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        yield "a call without an id"
    elif call_id in used:
        yield f"call id {call_id!r} is used twice"
    else:
        used.add(call_id)
    if call.get("type") != "function":
        yield "a call's type is not function"
    function = call.get("function", {})
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(function.get("name", ""))):
        yield f"bad function name {function.get('name')!r}"
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        yield "arguments is no string"
        return
    try:
        value = json.loads(arguments, parse_constant=lambda name: name)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        yield f"arguments are no JSON object: {arguments[:80]!r}"


def _tools(tools: object) -> Iterator[str]:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        yield "tools is empty"
        return
    names = [tool.get("function", {}).get("name") for tool in tools]
    if len(set(names)) != len(names):
        yield "two tools have one name"
    for tool in tools:
        if tool.get("type") != "function" or not re.fullmatch(
            r"[a-zA-Z0-9_-]{1,64}", str(tool.get("function", {}).get("name", ""))
        ):
            yield "a tool is no well-named function"
        elif tool["function"].get("parameters", {}).get("type") != "object":
            yield f"the parameters of {tool['function']['name']} are no object schema"


__all__ = ["chat_violations"]
