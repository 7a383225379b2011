"""A reply as the server-sent events of the Messages API."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.wire.answers import WireCall, WireReply, WireUsage
from tests.wire.write_chat import pieces

STOPS = {"length": "max_tokens", "refusal": "refusal"}


def messages_events(
    reply: WireReply, calls: tuple[WireCall, ...], usage: WireUsage, number: int
) -> list[bytes]:
    """Return one bytes object an event, the end marker last. `calls` have ids and JSON text."""
    start: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "wire",
        "stop_reason": None,
        "usage": {
            "input_tokens": usage.input - usage.cached - usage.written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.written,
            "output_tokens": 1,
        },
    }
    events = [_event("message_start", message=start), _event("ping")]
    for index, (block, deltas) in enumerate(_blocks(reply, calls)):
        events.append(_event("content_block_start", index=index, content_block=block))
        events += [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(_event("content_block_stop", index=index))
    stop = STOPS.get(reply.stop) or ("tool_use" if calls else "end_turn")
    counts = {"output_tokens": usage.output, "output_tokens_details": {"thinking_tokens": usage.reasoning}}
    events.append(_event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=counts))
    return [*events, _event("message_stop")]


def signature_of(thinking: str) -> str:
    """Return the signature that this server gives and wants back with a thinking text."""
    return "sig-" + hashlib.sha256(thinking.encode()).hexdigest()[:16]


def _blocks(
    reply: WireReply, calls: tuple[WireCall, ...]
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    size = reply.piece_chars
    if reply.thinking:
        thinking = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(reply.thinking, size)]
        signature = {"type": "signature_delta", "signature": signature_of(reply.thinking)}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*thinking, signature]))
    if reply.text:
        texts = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text, size)]
        blocks.append(({"type": "text", "text": ""}, texts))
    for call in calls:
        jsons = [
            {"type": "input_json_delta", "partial_json": piece} for piece in pieces(str(call.arguments), size)
        ]
        block: dict[str, Any] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": ""}, *jsons]))
    return blocks


def _event(kind: str, **data: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


__all__ = ["messages_events", "signature_of"]
