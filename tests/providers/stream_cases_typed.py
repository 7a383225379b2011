"""Streams of Responses and Messages, whose events have types."""

from __future__ import annotations

from tests.providers.stream_cases import StreamCase, json_text


def typed(*events: dict[str, object]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json_text(event)}\n\n" for event in events).encode()


TEXT_START: dict[str, object] = {
    "type": "content_block_start",
    "index": 0,
    "content_block": {"type": "text", "text": ""},
}
TOOL_START: dict[str, object] = {
    "type": "content_block_start",
    "index": 1,
    "content_block": {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}},
}
MESSAGE_STOP: dict[str, object] = {"type": "message_stop"}


def message_delta(stop: str, **usage: int) -> dict[str, object]:
    return {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3, **usage}}


def block_delta(index: int, kind: str, **fields: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def message_start(**usage: int) -> dict[str, object]:
    return {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1, **usage}}}


def completed(status: str = "completed", **fields: object) -> dict[str, object]:
    usage = {"input_tokens": 50, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 40}}
    return {
        "type": f"response.{status}",
        "response": {"status": status, "usage": usage, "output": [], **fields},
    }


def output_text(text: str) -> dict[str, object]:
    return {"type": "response.output_text.delta", "output_index": 0, "delta": text}


FUNCTION_DONE: dict[str, object] = {
    "type": "response.output_item.done",
    "output_index": 0,
    "item": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "bash",
        "arguments": '{"command": "ls"}',
    },
}

RESPONSES_CASES = (
    StreamCase("plain", "openai", typed(output_text("Hi ü"), completed()), text="Hi ü", usage=(50, 3, 40)),
    StreamCase(
        "incomplete",
        "openai",
        typed(output_text("Hi"), completed("incomplete", incomplete_details={"reason": "max_output_tokens"})),
        text="Hi",
        stop="length",
    ),
    StreamCase("call done and then nothing", "openai", typed(FUNCTION_DONE), fault="cut"),
    StreamCase("text and then nothing", "openai", typed(output_text("Hi")), fault="cut"),
    StreamCase(
        "only the done item brings the call",
        "openai",
        typed(FUNCTION_DONE, completed()),
        calls=(("bash", '{"command": "ls"}'),),
        stop="calls",
    ),
    StreamCase(
        "only the end brings the output",
        "openai",
        typed(completed(output=[{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}])),
        text="Hi",
    ),
    StreamCase(
        "failed",
        "openai",
        typed(
            {
                "type": "response.failed",
                "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}},
            }
        ),
        fault="rate_limited",
    ),
    StreamCase(
        "error event",
        "openai",
        typed({"type": "error", "code": "server_error", "message": "boom"}),
        fault="server",
    ),
    StreamCase(
        "unknown events",
        "openai",
        typed({"type": "response.new.thing"}, output_text("Hi"), completed()),
        text="Hi",
    ),
)

MESSAGES_CASES = (
    StreamCase(
        "plain",
        "anthropic",
        typed(
            message_start(cache_read_input_tokens=90_000, cache_creation_input_tokens=500),
            TEXT_START,
            {"type": "ping"},
            block_delta(0, "text_delta", text="Hi ü"),
            {"type": "content_block_stop", "index": 0},
            message_delta("end_turn", input_tokens=9),
            MESSAGE_STOP,
        ),
        text="Hi ü",
        usage=(90_509, 3, 90_000),
    ),
    StreamCase(
        "text whole, call cut",
        "anthropic",
        typed(
            message_start(),
            TEXT_START,
            block_delta(0, "text_delta", text="Hi"),
            {"type": "content_block_stop", "index": 0},
            TOOL_START,
            block_delta(1, "input_json_delta", partial_json='{"command": "rm'),
        ),
        fault="cut",
    ),
    StreamCase(
        "call whole, end marker missing",
        "anthropic",
        typed(
            message_start(),
            TOOL_START,
            block_delta(1, "input_json_delta", partial_json='{"command": "ls"}'),
            {"type": "content_block_stop", "index": 1},
        ),
        fault="cut",
    ),
    StreamCase(
        "call cut at the length limit",
        "anthropic",
        typed(
            message_start(),
            TOOL_START,
            block_delta(1, "input_json_delta", partial_json='{"command": "l'),
            {"type": "content_block_stop", "index": 1},
            message_delta("max_tokens"),
            MESSAGE_STOP,
        ),
        calls=(("bash", '{"command": "l'),),
        stop="length",
    ),
    StreamCase(
        "whole input in the block's start",
        "anthropic",
        typed(
            message_start(),
            TOOL_START
            | {"content_block": {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}},
            {"type": "content_block_stop", "index": 1},
            message_delta("tool_use"),
            MESSAGE_STOP,
        ),
        calls=(("bash", '{"command": "ls"}'),),
        stop="calls",
    ),
    StreamCase(
        "signed and redacted thinking",
        "anthropic",
        typed(
            message_start(),
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
            block_delta(0, "thinking_delta", thinking="Hm."),
            block_delta(0, "signature_delta", signature="sig"),
            {"type": "content_block_stop", "index": 0},
            message_delta("end_turn"),
            MESSAGE_STOP,
        ),
        thinking="Hm.",
        returned={"block": {"type": "thinking", "thinking": "Hm.", "signature": "sig"}},
    ),
    StreamCase(
        "overloaded inside the stream",
        "anthropic",
        typed(
            message_start(), {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        ),
        fault="overloaded",
    ),
    StreamCase("html", "anthropic", b"<html>Sign in</html>", fault="garbled"),
)
