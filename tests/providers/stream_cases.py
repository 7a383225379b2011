"""Streams as servers really send them, byte by byte, and what they must come to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tori_tui.providers.base import StopReason
from tori_tui.providers.errors import ProviderFault


@dataclass(frozen=True, slots=True)
class StreamCase:
    """A stream and the reply, or the fault, that it must come to."""

    name: str
    protocol: str
    stream: bytes
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments as JSON, or the raw text where it is none."""
    stop: StopReason = "end"
    fault: ProviderFault | None = None
    usage: tuple[int, int, int] | None = None
    """Input, output, cached."""
    thinking: str = ""
    returned: dict[str, object] = field(default_factory=dict)
    """What of a provider part must go back."""


def chat(*chunks: object, done: bool = True, newline: str = "\n") -> bytes:
    end = newline * 2
    events = "".join(f"data: {_json(chunk)}{end}" for chunk in chunks)
    return (events + (f"data: [DONE]{end}" if done else "")).encode()


def delta(content: object = None, finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": content, **fields}, "finish_reason": finish}]}


def fragment(
    index: int | None, arguments: str, call_id: str | None = None, name: str | None = None
) -> object:
    call: dict[str, object] = {"function": {"arguments": arguments}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    if name is not None:
        call["function"] = {"name": name, "arguments": arguments}
    return delta(tool_calls=[call])


def typed(*events: dict[str, object]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {_json(event)}\n\n" for event in events).encode()


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


A_B = (("read", '{"path": "a"}'), ("read", '{"path": "b"}'))
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

CHAT_CASES = (
    StreamCase("plain", "openai-chat", chat(delta("Hi ü"), delta(finish="stop")), text="Hi ü"),
    StreamCase(
        "crlf",
        "openai-chat",
        chat(delta("Hi"), delta(" 😀"), delta(finish="stop"), newline="\r\n"),
        text="Hi 😀",
    ),
    StreamCase("cr only", "openai-chat", chat(delta("Hi"), delta(finish="stop"), newline="\r"), text="Hi"),
    StreamCase(
        "byte order mark, comments, retry, ids, empty data",
        "openai-chat",
        b"\xef\xbb\xbfretry: 3000\n\n: ping\n\ndata:\n\ndata: \n\nid: 7\n\nevent: x\n\n"
        + chat(delta("Hi"), delta(finish="stop")),
        text="Hi",
    ),
    StreamCase(
        "data over several lines",
        "openai-chat",
        b'data: {"choices": [{"delta":\ndata: {"content": "Hi"}}]}\n\n' + chat(delta(finish="stop")),
        text="Hi",
    ),
    StreamCase(
        "surrogate pair in two chunks",
        "openai-chat",
        b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ude00 \\ud83d"}}]}\n\n' + chat(delta(finish="stop")),
        text="😀 �",
    ),
    StreamCase(
        "no choices, null deltas, content filter chunk",
        "openai-chat",
        chat(
            {"choices": [], "prompt_filter_results": [{}]},
            {"choices": None},
            {"object": "x"},
            {"choices": [{"delta": None}]},
            delta(),
            delta("Hi"),
            delta(finish="stop"),
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 50_000,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 49_000},
                },
            },
        ),
        text="Hi",
        usage=(50_000, 2, 49_000),
    ),
    StreamCase(
        "closed after the finish reason without an end marker",
        "openai-chat",
        chat(delta("Hi"), delta(finish="stop"), done=False),
        text="Hi",
    ),
    StreamCase("end marker without a finish reason", "openai-chat", chat(delta("Hi")), text="Hi"),
    StreamCase("no blank line after the end marker", "openai-chat", chat(delta("Hi"))[:-2], text="Hi"),
    StreamCase("cut text", "openai-chat", chat(delta("Hi"), delta(" the"), done=False), fault="cut"),
    StreamCase("nothing at all", "openai-chat", b"", fault="cut"),
    StreamCase(
        "cut call",
        "openai-chat",
        chat(fragment(0, '{"command": "ls', "c1", "bash"), done=False),
        fault="cut",
    ),
    StreamCase(
        "a whole call and then nothing",
        "openai-chat",
        chat(fragment(0, '{"command": "ls"}', "c1", "bash"), done=False),
        fault="cut",
    ),
    StreamCase("html", "openai-chat", b"<!DOCTYPE html><html>Sign in</html>", fault="garbled"),
    StreamCase("plain json", "openai-chat", b'{"choices": []}', fault="garbled"),
    StreamCase("no json in an event", "openai-chat", b"data: {oops\n\n", fault="garbled"),
    StreamCase("a list in an event", "openai-chat", b"data: [1]\n\n", fault="garbled"),
    StreamCase(
        "error inside the stream",
        "openai-chat",
        chat(delta("Hi"), {"error": {"message": "overloaded", "code": 503}}),
        fault="overloaded",
    ),
    StreamCase(
        "error of another shape", "openai-chat", chat(delta("Hi"), {"error": "out of memory"}), fault="server"
    ),
    StreamCase(
        "index 0 for all parallel calls",
        "openai-chat",
        chat(
            fragment(0, '{"path": "a"}', "call_a", "read"),
            fragment(0, '{"path": "b"}', "call_b", "read"),
            delta(finish="tool_calls"),
        ),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "index 0 and one id for all parallel calls",
        "openai-chat",
        chat(
            fragment(0, '{"path": "a"}', "call_1", "read"),
            fragment(0, '{"path": "b"}', "call_1", "read"),
            delta(finish="stop"),
        ),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "no index and no id",
        "openai-chat",
        chat(fragment(None, '{"path": "a"}', "", "read"), fragment(None, '{"path": "b"}', None, "read")),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "two indexes and one id",
        "openai-chat",
        chat(fragment(0, '{"path": "a"}', "call_1", "read"), fragment(1, '{"path": "b"}', "call_1", "read")),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "interleaved fragments",
        "openai-chat",
        chat(
            fragment(0, '{"pa', "a", "read"),
            fragment(1, '{"pa', "b", "read"),
            fragment(0, 'th": "a"}'),
            fragment(1, 'th": "b"}'),
            delta(finish="tool_calls"),
        ),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "id and name in every fragment",
        "openai-chat",
        chat(
            fragment(0, '{"pa', "a", "read"),
            fragment(0, 'th": "a"}', "a", "read"),
            fragment(0, '{"pa', "b", "read"),
            fragment(0, 'th": "b"}', "b", "read"),
            delta(finish="tool_calls"),
        ),
        calls=A_B,
        stop="calls",
    ),
    StreamCase(
        "arguments cut by the model",
        "openai-chat",
        chat(fragment(0, '{"path": "a.py", "content": "x\ny', "c", "write"), delta(finish="tool_calls")),
        calls=(("write", '{"path": "a.py", "content": "x\ny'),),
        stop="calls",
    ),
    StreamCase(
        "a call without arguments at the length limit",
        "openai-chat",
        chat(fragment(0, "", "c", "bash_stop"), delta(finish="length")),
        calls=(("bash_stop", ""),),
        stop="length",
    ),
    StreamCase(
        "arguments as an object, as a string of an object, as nothing",
        "openai-chat",
        chat(
            delta(
                tool_calls=[{"index": 0, "id": "a", "function": {"name": "read", "arguments": {"path": "a"}}}]
            ),
            fragment(1, '"{\\"path\\": \\"b\\"}"', "b", "read"),
            fragment(2, "null", "c", "goal"),
            fragment(3, "", "d", "goal"),
        ),
        calls=(*A_B, ("goal", "{}"), ("goal", "{}")),
        stop="calls",
    ),
    StreamCase(
        "lone surrogate in arguments",
        "openai-chat",
        chat(fragment(0, '{"path": "\\ud83d"}', "a", "read"), delta(finish="tool_calls")),
        calls=(("read", '{"path": "�"}'),),
        stop="calls",
    ),
    StreamCase(
        "not a number in arguments",
        "openai-chat",
        chat(fragment(0, '{"limit": NaN}', "a", "read"), delta(finish="tool_calls")),
        calls=(("read", '{"limit": NaN}'),),
        stop="calls",
    ),
    StreamCase(
        "reasoning_content",
        "openai-chat",
        chat(delta(reasoning_content="Hm"), delta(reasoning_content="."), delta("Hi"), delta(finish="stop")),
        text="Hi",
        thinking="Hm.",
        returned={"reasoning_content": "Hm."},
    ),
    StreamCase(
        "reasoning and reasoning_details",
        "openai-chat",
        chat(
            delta(reasoning="Hm", reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "Hm"}]),
            delta(
                reasoning=".",
                reasoning_details=[{"type": "reasoning.text", "index": 0, "text": ".", "signature": "s"}],
            ),
            delta("Hi", finish="stop"),
        ),
        text="Hi",
        thinking="Hm.",
        returned={
            "reasoning": "Hm.",
            "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "s"}],
        },
    ),
    StreamCase(
        "content in parts",
        "openai-chat",
        chat(
            delta(
                [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
                    {"type": "text", "text": "Hi"},
                ]
            ),
            delta(finish="stop"),
        ),
        text="Hi",
        thinking="Hm",
    ),
    StreamCase(
        "content filter",
        "openai-chat",
        chat(delta("I can"), delta(finish="content_filter")),
        "I can",
        stop="refusal",
    ),
)

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

CASES = CHAT_CASES + RESPONSES_CASES + MESSAGES_CASES
