"""Requests and replies for the provider tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from itertools import count

from tori_tui.domain.ids import MAIN_CONTEXT, CallId
from tori_tui.domain.messages import Content, Message, ToolCall
from tori_tui.domain.request import ModelProfile, ModelRequest, SystemBlock, ToolSpec
from tori_tui.providers.base import Provider, StreamEvent
from tori_tui.providers.fold import Reply, ReplyFold

READ_FILE = ToolSpec(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def profile(
    provider: str = "openai-chat", model: str = "wire-model", *, vision: bool = False
) -> ModelProfile:
    return ModelProfile(
        name=f"{provider}/{model}",
        provider=provider,
        model=model,
        family=model,
        window_tokens=128_000,
        output_limit_tokens=8_192,
        late_system=True,
        vision=vision,
        efforts=("low", "medium", "high"),
    )


def user(content: Content) -> Message:
    return Message(MAIN_CONTEXT, None, "user", content, "user")


def model(text: str = "", *calls: ToolCall) -> Message:
    return Message(MAIN_CONTEXT, None, "assistant", text, "model", tool_calls=calls)


def said(reply: Reply) -> Message:
    return Message(
        MAIN_CONTEXT,
        None,
        "assistant",
        reply.content,
        "model",
        tool_calls=reply.tool_calls,
        provider_parts=reply.provider_parts,
    )


def call(call_id: str, name: str = "read_file", **arguments: object) -> ToolCall:
    return ToolCall(CallId(call_id), name, arguments)


def result(call_id: str, content: Content = "text", *, is_error: bool = False) -> Message:
    return Message(
        MAIN_CONTEXT,
        None,
        "tool",
        content,
        "tool",
        tool_call_id=CallId(call_id),
        name="read_file",
        is_error=is_error,
    )


def request(
    *messages: Message,
    of: ModelProfile | None = None,
    late_system: str | None = None,
    cache_marks: tuple[int, ...] = (),
) -> ModelRequest:
    return ModelRequest(
        context=MAIN_CONTEXT,
        profile=of or profile(),
        system=(SystemBlock("rules", "Be brief."), SystemBlock("project", "Tabs.")),
        messages=messages or (user("Hello"),),
        tools=(READ_FILE,),
        late_system=late_system,
        cache_marks=cache_marks,
        cache_key="session-1",
    )


def new_ids() -> Iterator[str]:
    return (f"new_{number}" for number in count(1))


async def events_from(provider: Provider, asked: ModelRequest) -> list[StreamEvent]:
    async with aclosing(provider.stream(asked)) as events:
        return [event async for event in events]


def folded(events: list[StreamEvent], used: frozenset[str] = frozenset()) -> Reply:
    ids = new_ids()
    fold = ReplyFold(used, lambda: next(ids))
    for event in events:
        fold.add(event)
    return fold.reply()


async def reply_from(provider: Provider, asked: ModelRequest) -> Reply:
    return folded(await events_from(provider, asked))
