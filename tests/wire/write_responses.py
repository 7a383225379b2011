"""A reply as the server-sent events of the Responses API."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.wire.answers import WireCall, WireReply, WireUsage
from tests.wire.write_chat import pieces

STOPS = {"length": "max_output_tokens", "refusal": "content_filter"}


def responses_events(
    reply: WireReply, calls: tuple[WireCall, ...], usage: WireUsage, number: int
) -> list[bytes]:
    """Return one bytes object an event, the end marker last. `calls` have ids and JSON text."""
    head: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "model": "wire",
        "output": [],
        "status": "in_progress",
    }
    stream: Stream = [("response.created", {"response": head}), ("response.in_progress", {"response": head})]
    items: list[dict[str, Any]] = []
    if reply.thinking:
        stream += _reasoning(reply, len(items), f"rs_{number}", items)
    if reply.text:
        stream += _message(reply, len(items), f"msg_{number}", items)
    for call in calls:
        stream += _call(call, len(items), f"fc_{number}_{len(items)}", reply.piece_chars, items)
    whole = {**head, "output": items, "status": "completed", "usage": responses_usage(usage)}
    if reason := STOPS.get(reply.stop):
        whole |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    stream.append((f"response.{whole['status']}", {"response": whole}))
    return [_event(kind, position, data) for position, (kind, data) in enumerate(stream)]


def responses_usage(usage: WireUsage) -> dict[str, Any]:
    """Return the `usage` object: cached and written tokens are a part of the input's."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written},
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def encrypted_of(item_id: str, summary: str) -> str:
    """Return the encrypted content that this server gives and wants back with a reasoning item."""
    return "enc-" + hashlib.sha256(f"{item_id}|{summary}".encode()).hexdigest()[:16]


Stream = list[tuple[str, dict[str, Any]]]


def _reasoning(reply: WireReply, index: int, item_id: str, items: list[dict[str, Any]]) -> Stream:
    place = {"item_id": item_id, "output_index": index, "summary_index": 0}
    empty = {"id": item_id, "type": "reasoning", "summary": [], "encrypted_content": "enc-incomplete"}
    summary = [{"type": "summary_text", "text": reply.thinking}]
    whole = {**empty, "summary": summary, "encrypted_content": encrypted_of(item_id, reply.thinking)}
    items.append(whole)
    stream: Stream = [("response.output_item.added", {"output_index": index, "item": empty})]
    stream.append(
        ("response.reasoning_summary_part.added", {**place, "part": {"type": "summary_text", "text": ""}})
    )
    for piece in pieces(reply.thinking, reply.piece_chars):
        stream.append(("response.reasoning_summary_text.delta", {**place, "delta": piece}))
    return [*stream, ("response.output_item.done", {"output_index": index, "item": whole})]


def _message(reply: WireReply, index: int, item_id: str, items: list[dict[str, Any]]) -> Stream:
    place = {"item_id": item_id, "output_index": index, "content_index": 0}
    head = {"id": item_id, "type": "message", "role": "assistant", "phase": "commentary"}
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    whole = {**head, "status": "completed", "content": [part]}
    items.append(whole)
    stream: Stream = [
        ("response.output_item.added", {"output_index": index, "item": {**head, "content": []}})
    ]
    for piece in pieces(reply.text, reply.piece_chars):
        stream.append(("response.output_text.delta", {**place, "delta": piece}))
    stream.append(("response.output_text.done", {**place, "text": reply.text}))
    return [*stream, ("response.output_item.done", {"output_index": index, "item": whole})]


def _call(call: WireCall, index: int, item_id: str, size: int, items: list[dict[str, Any]]) -> Stream:
    place = {"item_id": item_id, "output_index": index}
    head = {"id": item_id, "type": "function_call", "call_id": call.id, "name": call.name}
    whole = {**head, "arguments": call.arguments, "status": "completed"}
    items.append(whole)
    stream: Stream = [
        ("response.output_item.added", {"output_index": index, "item": {**head, "arguments": ""}})
    ]
    for piece in pieces(str(call.arguments), size):
        stream.append(("response.function_call_arguments.delta", {**place, "delta": piece}))
    stream.append(("response.function_call_arguments.done", {**place, "arguments": call.arguments}))
    return [*stream, ("response.output_item.done", {"output_index": index, "item": whole})]


def _event(kind: str, position: int, data: dict[str, Any]) -> bytes:
    body = {"type": kind, "sequence_number": position, **data}
    return f"event: {kind}\ndata: {json.dumps(body)}\n\n".encode()


__all__ = ["encrypted_of", "responses_events", "responses_usage"]
