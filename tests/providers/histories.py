"""Random histories: what interrupts, denials, faults, folds and changes of provider leave behind."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from tests.wire.write_messages import signature_of
from tests.wire.write_responses import encrypted_of
from tori_tui.domain.ids import MAIN_CONTEXT, CallId
from tori_tui.domain.messages import Content, ContentPart, Message, ProviderPart, ToolCall

FAMILY = "wire-model"

TEXTS = st.sampled_from(
    [
        "",
        " ",
        "\n\t",
        "Fix it",
        "ü 😀",
        "a\ud83db",
        "[/red] \x1b[31m",
        "x" * 300,
        "## Current Plan\n",
        "\u2028",
    ]
)

IDS = st.sampled_from(
    ["call_0", "call_1", "a", "", "toolu_01", "fc|1", "x" * 90, "ü", "call_0#2", "b", "c", "d"]
)

NAMES = st.sampled_from(["read_file", "bash", "", "no such tool", "n" * 80, "goal"])

ARGUMENTS: st.SearchStrategy[Mapping[str, object]] = st.sampled_from(
    [{}, {"path": "a.py"}, {"a\ud83d": ["\ude00", 1.5, None]}, {"n": {"deep": [{"x": True}]}}]
)

IMAGE = ContentPart("image", media_type="image/png", data="iVBORw0KGgo=")


@st.composite
def contents(draw: st.DrawFn) -> Content:
    if draw(st.booleans()):
        return draw(TEXTS)
    part = st.one_of(st.just(IMAGE), TEXTS.map(lambda text: ContentPart("text", text)))
    return tuple(draw(st.lists(part, max_size=3)))


@st.composite
def provider_parts(draw: st.DrawFn, number: str, call_ids: list[str]) -> ProviderPart:
    """A part as one of the three adapters makes it, for this family or another."""
    at = draw(st.integers(0, 12))
    family = draw(st.sampled_from([FAMILY, FAMILY, "another"]))
    wanted = draw(st.sampled_from([None, "gone", *call_ids]))
    call_id = CallId(wanted) if wanted is not None else None
    thinking = f"thought {number}"
    match draw(st.sampled_from(["anthropic", "openai", "openai-chat", "phase"])):
        case "anthropic":
            block = {"type": "thinking", "thinking": thinking, "signature": signature_of(thinking)}
            return ProviderPart("anthropic", family, {"block": block, "at": at}, call_id)
        case "openai":
            item_id = f"rs_{number}"
            item = {
                "type": "reasoning",
                "id": item_id,
                "summary": [{"type": "summary_text", "text": thinking}],
                "encrypted_content": encrypted_of(item_id, thinking),
            }
            return ProviderPart("openai", family, {"item": item, "at": at}, call_id)
        case "phase":
            return ProviderPart("openai", family, {"phase": "commentary", "at": 0}, call_id)
        case _:
            endpoint = draw(st.sampled_from(["host", "other-host"]))
            return ProviderPart("openai-chat", family, {"endpoint": endpoint, "reasoning_content": thinking})


@st.composite
def replies(draw: st.DrawFn, number: int) -> Message:
    calls = tuple(
        ToolCall(
            CallId(draw(IDS)),
            draw(NAMES),
            draw(ARGUMENTS),
            draw(st.sampled_from([None, None, None, '{"a": ', ""])),
        )
        for _ in range(draw(st.integers(0, 3)))
    )
    call_ids: list[str] = [call.id for call in calls]
    n_parts = draw(st.integers(0, 2))
    parts = tuple(draw(provider_parts(f"{number}-{part}", call_ids)) for part in range(n_parts))
    return Message(
        MAIN_CONTEXT, None, "assistant", draw(TEXTS), "model", tool_calls=calls, provider_parts=parts
    )


def tool_message(call_id: str, content: Content, *, is_error: bool = False) -> Message:
    return Message(
        MAIN_CONTEXT, None, "tool", content, "tool", tool_call_id=CallId(call_id), name="x", is_error=is_error
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Mostly sound sessions in which anything may be missing, doubled or out of place."""
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            messages.append(Message(MAIN_CONTEXT, None, "user", draw(contents()), "user"))
        reply = draw(replies(number))
        messages.append(reply)
        for call in reply.tool_calls:
            for _ in range(draw(st.sampled_from([1, 1, 1, 0, 2]))):
                messages.append(tool_message(call.id, draw(contents()), is_error=draw(st.booleans())))
        if draw(st.integers(0, 4)) == 0:
            messages.append(tool_message(draw(IDS), "orphan"))
        if messages and draw(st.integers(0, 4)) == 0:
            del messages[draw(st.integers(0, len(messages) - 1))]
    return tuple(messages)
