"""What the Messages API itself demands of a request.

Written from the API reference and its known refusals, not from the encoder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.wire.write_messages import signature_of

KNOWN_KEYS = {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "metadata"}
KNOWN_KEYS |= {"thinking", "output_config", "cache_control", "stop_sequences", "service_tier"}

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
EFFORTS = {"low", "medium", "high", "xhigh", "max"}

BLOCKS = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
    "system": {"text"},
}


def messages_violations(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with a request; empty if the API would take it."""
    return tuple(_violations(body))


def _violations(body: Mapping[str, Any]) -> Iterator[str]:
    for key in body.keys() - KNOWN_KEYS:
        yield f"{key}: extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: field required"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: must be at least 1"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    blocks = [_content(message) for message in messages]
    for position, (message, content) in enumerate(zip(messages, blocks, strict=True)):
        yield from (f"messages.{position}: {text}" for text in _message(message, content))
    yield from _order(messages)
    yield from _pairs(messages, blocks)
    yield from _cache(body, blocks)
    yield from _top(body)


def _content(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _message(message: Mapping[str, Any], content: list[Mapping[str, Any]]) -> Iterator[str]:
    role = message.get("role")
    if role not in BLOCKS or message.keys() - {"role", "content"}:
        yield f"bad role or field: {role!r}"
        return
    if not content:
        yield "all messages must have non-empty content"
    for block in content:
        kind = block.get("type")
        if kind not in BLOCKS[role]:
            yield f"a {role} message cannot have a {kind} block"
        yield from _block(block)
    kinds = [block.get("type") for block in content]
    if "tool_result" in kinds and kinds.index("tool_result") != 0:
        yield "tool_result blocks must come first"
    if any(before != "tool_result" and after == "tool_result" for before, after in pairwise(kinds)):
        yield "tool_result blocks must stand together"
    if role == "assistant" and kinds and kinds[-1] in ("thinking", "redacted_thinking"):
        yield "the final block in an assistant message cannot be thinking"


def _block(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            if not str(block.get("text", "")).strip():
                yield "text content blocks must contain non-whitespace text"
        case "thinking":
            if block.get("signature") != signature_of(block.get("thinking", "")):
                yield "invalid signature in thinking block"
            if block.keys() - {"type", "thinking", "signature"}:
                yield "thinking blocks cannot be modified"
        case "tool_use":
            if not CALL_ID.fullmatch(str(block.get("id", ""))):
                yield f"tool_use.id: {block.get('id')!r} does not match the pattern"
            if not NAME.fullmatch(str(block.get("name", ""))):
                yield f"tool_use.name: {block.get('name')!r} does not match the pattern"
            if not isinstance(block.get("input"), dict):
                yield "tool_use.input: must be an object"
        case "tool_result":
            inner = block.get("content")
            for part in inner if isinstance(inner, list) else ():
                yield from _block(part)
        case "image":
            source = block.get("source", {})
            kinds = ("image/png", "image/jpeg", "image/gif", "image/webp")
            if (
                source.get("type") != "base64"
                or source.get("media_type") not in kinds
                or not source.get("data")
            ):
                yield "image: bad source"


def _order(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    roles = [message.get("role") for message in messages]
    if roles[0] != "user":
        yield "first message must use the user role"
    if roles[-1] == "assistant":
        yield "this model does not support assistant message prefill"
    for position, role in enumerate(roles):
        if role != "system":
            continue
        if position == 0 or roles[position - 1] != "user":
            yield "a system message must follow a user message"
        if position + 1 < len(roles) and roles[position + 1] != "assistant":
            yield "a system message must be last or stand before an assistant message"


def _pairs(messages: list[Mapping[str, Any]], blocks: list[list[Mapping[str, Any]]]) -> Iterator[str]:
    used: set[str] = set()
    waiting: list[str] = []
    for position, (message, content) in enumerate(zip(messages, blocks, strict=True)):
        if message.get("role") == "system":
            continue
        results = [str(block.get("tool_use_id")) for block in content if block.get("type") == "tool_result"]
        for call_id in results:
            if call_id not in waiting:
                yield f"messages.{position}: unexpected tool_use_id {call_id!r} in tool_result"
        if len(set(results)) != len(results):
            yield f"messages.{position}: two results for one call"
        for call_id in set(waiting) - set(results):
            yield f"messages.{position}: tool_use {call_id!r} without tool_result immediately after"
        waiting = [str(block.get("id")) for block in content if block.get("type") == "tool_use"]
        if len(set(waiting)) != len(waiting) or used & set(waiting):
            yield f"messages.{position}: tool_use ids must be unique"
        used |= set(waiting)
    if waiting:
        yield f"tool_use without tool_result at the end: {waiting}"


def _cache(body: Mapping[str, Any], blocks: list[list[Mapping[str, Any]]]) -> Iterator[str]:
    system = body.get("system")
    places = [block for content in blocks for block in content]
    places += list(body.get("tools") or ())
    places += system if isinstance(system, list) else []
    marked = [block for block in places if "cache_control" in block]
    if len(marked) > 4:
        yield f"a maximum of 4 blocks with cache_control may be provided, found {len(marked)}"
    if any(block.get("type") in ("thinking", "redacted_thinking") for block in marked):
        yield "cache_control cannot be set for thinking blocks"


def _top(body: Mapping[str, Any]) -> Iterator[str]:
    system = body.get("system")
    for block in system if isinstance(system, list) else ():
        yield from _block(block)
    names = [tool.get("name") for tool in body.get("tools") or ()]
    if len(set(names)) != len(names) or not all(NAME.fullmatch(str(name)) for name in names):
        yield "tools: names must be unique and match the pattern"
    if any(tool.get("input_schema", {}).get("type") != "object" for tool in body.get("tools") or ()):
        yield "tools: input_schema.type must be object"
    if "output_config" in body and body["output_config"].get("effort") not in EFFORTS:
        yield "output_config.effort: unknown value"


__all__ = ["messages_violations"]
