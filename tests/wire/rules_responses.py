"""What the Responses API itself demands of a request.

Written from the API reference and its known refusals, not from the encoder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.write_responses import encrypted_of

KNOWN_KEYS = {"model", "input", "instructions", "tools", "stream", "store", "include", "reasoning", "text"}
KNOWN_KEYS |= {"max_output_tokens", "prompt_cache_key", "parallel_tool_calls", "tool_choice"}

ITEM_KEYS = {
    "message": {"type", "role", "content", "phase", "id", "status"},
    "function_call": {"type", "call_id", "name", "arguments", "id", "status"},
    "function_call_output": {"type", "call_id", "output", "id", "status"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
}

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def responses_violations(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with a request; empty if the API would take it."""
    return tuple(_violations(body))


def _violations(body: Mapping[str, Any]) -> Iterator[str]:
    for key in body.keys() - KNOWN_KEYS:
        yield f"unknown parameter: {key}"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model is missing"
    if body.get("store") is not False:
        yield "store must be false: the history is ours"
    items = body.get("input")
    if not isinstance(items, list) or not items:
        yield "input is empty"
        return
    for position, item in enumerate(items):
        yield from (f"input[{position}]: {text}" for text in _item(item))
    yield from _pairs(items)
    yield from _reasoning_follows(items)
    for tool in body.get("tools") or ():
        is_named = NAME.fullmatch(str(tool.get("name", "")))
        if (
            tool.get("type") != "function"
            or not is_named
            or tool.get("parameters", {}).get("type") != "object"
        ):
            yield "a tool is no well-named function with an object schema"


def _kind(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or ("message" if "role" in item else ""))


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    kind = _kind(item)
    if kind not in ITEM_KEYS:
        yield f"unknown item type {kind!r}"
        return
    for key in item.keys() - ITEM_KEYS[kind]:
        yield f"unknown field {key} in {kind}"
    match kind:
        case "message":
            yield from _message(item)
        case "function_call":
            yield from _call(item)
        case "function_call_output":
            yield from _parts(item.get("output"))
        case "reasoning":
            summary = "".join(part.get("text", "") for part in item.get("summary", ()))
            if item.get("encrypted_content") != encrypted_of(str(item.get("id")), summary):
                yield "the encrypted content could not be verified"


def _message(item: Mapping[str, Any]) -> Iterator[str]:
    role = item.get("role")
    if role not in ("user", "assistant", "system", "developer"):
        yield f"unknown role {role!r}"
    if "phase" in item and (role != "assistant" or item["phase"] not in ("commentary", "final_answer")):
        yield "phase is for assistant messages only"
    content = item.get("content")
    if role == "assistant" and not isinstance(content, str):
        yield "assistant content is no text"
    yield from _parts(content)


def _parts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        if not content.strip():
            yield "empty content"
    elif not isinstance(content, list) or not content:
        yield "content is missing"
    else:
        for part in content:
            is_text = part.get("type") == "input_text" and str(part.get("text", "")).strip()
            is_image = part.get("type") == "input_image" and str(part.get("image_url", "")).startswith(
                "data:image/"
            )
            if not is_text and not is_image:
                yield f"bad part {part.get('type')!r}"


def _call(item: Mapping[str, Any]) -> Iterator[str]:
    if not NAME.fullmatch(str(item.get("name", ""))):
        yield f"bad function name {item.get('name')!r}"
    try:
        arguments = json.loads(item.get("arguments", ""))
    except (ValueError, TypeError):
        arguments = None
    if not isinstance(arguments, dict):
        yield "arguments are no JSON object"


def _pairs(items: list[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    used: set[str] = set()
    for position, item in enumerate(items):
        call_id = str(item.get("call_id", ""))
        match _kind(item):
            case "function_call":
                if not call_id or len(call_id) > 64 or call_id in used:
                    yield f"input[{position}]: call_id {call_id!r} is empty, too long or used twice"
                used.add(call_id)
                waiting.append(call_id)
            case "function_call_output":
                if call_id not in waiting:
                    yield f"input[{position}]: no tool call found for output {call_id!r}"
                else:
                    waiting.remove(call_id)
            case "message" if waiting:
                yield f"input[{position}]: no tool output found for {waiting}"
                waiting = []
    if waiting:
        yield f"no tool output found for {waiting}"


def _reasoning_follows(items: list[Mapping[str, Any]]) -> Iterator[str]:
    ids = [str(item.get("id")) for item in items if _kind(item) == "reasoning"]
    if len(set(ids)) != len(ids):
        yield "duplicate item id"
    for position, item in enumerate(items):
        if _kind(item) != "reasoning":
            continue
        after = items[position + 1] if position + 1 < len(items) else {}
        is_reply = _kind(after) in ("function_call", "reasoning") or after.get("role") == "assistant"
        if not is_reply:
            yield f"input[{position}]: reasoning {item.get('id')!r} without its required following item"


__all__ = ["responses_violations"]
