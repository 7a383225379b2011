"""Streams of Chat Completions, as compatible servers really send them."""

from __future__ import annotations

from tests.providers.stream_cases import StreamCase, json_text


def chat(*chunks: object, done: bool = True, newline: str = "\n") -> bytes:
    end = newline * 2
    events = "".join(f"data: {json_text(chunk)}{end}" for chunk in chunks)
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


A_B = (("read", '{"path": "a"}'), ("read", '{"path": "b"}'))
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
        "data over several lines with crlf",
        "openai-chat",
        b'data: {"choices": [{"delta":\r\ndata: {"content": "Hi"}}]}\r\n\r\n' + chat(delta(finish="stop")),
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
        "index 0 for a call without arguments and the next",
        "openai-chat",
        chat(
            fragment(0, "", "call_a", "goal"),
            fragment(0, '{"path": "b"}', "call_b", "read"),
            delta(finish="tool_calls"),
        ),
        calls=(("goal", "{}"), A_B[1]),
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
