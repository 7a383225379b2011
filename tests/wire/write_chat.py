"""A reply as the server-sent events of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.wire.answers import WireCall, WireReply, WireUsage

STOPS = {"length": "length", "refusal": "content_filter"}


def chat_events(reply: WireReply, calls: tuple[WireCall, ...], usage: WireUsage, number: int) -> list[bytes]:
    """Return one bytes object an event, the end marker last. `calls` have ids and JSON text."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "wire"}
    events = [_chunk(head, delta) for delta in _deltas(reply, calls)]
    stop = STOPS.get(reply.stop) or ("tool_calls" if calls else "stop")
    events.append(_event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}))
    events.append(_event({**head, "choices": [], "usage": chat_usage(usage)}))
    return [*events, b"data: [DONE]\n\n"]


def chat_usage(usage: WireUsage) -> dict[str, Any]:
    """Return the `usage` object: cached tokens are a part of the prompt's."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def pieces(text: str, size: int) -> Iterator[str]:
    """Yield a text in pieces."""
    return (text[start : start + size] for start in range(0, len(text), size))


def _deltas(reply: WireReply, calls: tuple[WireCall, ...]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.thinking, reply.piece_chars):
        yield {"reasoning_content": piece}
    for piece in pieces(reply.text, reply.piece_chars):
        yield {"content": piece}
    for index, call in enumerate(calls):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        for piece in pieces(str(call.arguments), reply.piece_chars):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chunk(head: dict[str, Any], delta: dict[str, Any]) -> bytes:
    return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


__all__ = ["chat_events", "chat_usage", "pieces"]
