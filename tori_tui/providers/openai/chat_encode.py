"""A request as the body of a Chat Completions call.

Pure. Must not read the environment nor know how the body is sent.

Shape: one leading system message (blocks joined by blank lines), then user and assistant in turn
(adjacent user messages are merged, which every chat template accepts), the results of a reply's
calls directly after it, images of results in a user message after them (a tool message holds text
only), and a late system message last.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tori_tui.domain.messages import ContentPart, ProviderPart
from tori_tui.domain.request import Effort, ModelRequest, ToolSpec
from tori_tui.providers.history import Entry, ModelEntry, ResultEntry, UserEntry, arguments_text, entries_of
from tori_tui.providers.surrogates import mend

PROVIDER: Final = "openai-chat"

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")
"""What compatible servers call the model's thinking."""

EFFORTS: Final[Mapping[Effort, str]] = {"max": "xhigh"}
"""Where the wire has another word; see `openai.types.shared.ReasoningEffort`."""

OPTIONAL: Final = (
    "stream_options",
    "reasoning_effort",
    "prompt_cache_key",
    "max_tokens",
    "max_completion_tokens",
)
"""Parameters that some compatible servers refuse; the request is whole without them."""

OTHER_NAMES: Final = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What one server takes beyond the common ground."""

    endpoint: str
    """Host of the server: thinking returns only to the one that sent it."""
    is_openai: bool = False
    """OpenAI's own: takes `max_completion_tokens` and `prompt_cache_key`."""


def encode_chat(request: ModelRequest, dialect: ChatDialect) -> Wire:
    """Return the JSON body of the call."""
    body: Wire = {
        "model": request.profile.model,
        "messages": _messages(request, dialect),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        body["max_completion_tokens" if dialect.is_openai else "max_tokens"] = request.max_output_tokens
    if request.effort and request.effort in request.profile.efforts:
        body["reasoning_effort"] = EFFORTS.get(request.effort, request.effort)
    if request.cache_key and dialect.is_openai:
        body["prompt_cache_key"] = request.cache_key
    return body


def refused_parameter(body: Wire, complaint: str) -> str | None:
    """Return the parameter that a server complains about and that a request can do without."""
    return next((name for name in OPTIONAL if name in body and re.search(rf"\b{name}\b", complaint)), None)


def without(body: Wire, refused: Container[str]) -> Wire:
    """Return the body without refused parameters; a limit on the output goes under its other name."""
    kept = {name: value for name, value in body.items() if name not in refused}
    for name, other in OTHER_NAMES.items():
        if name in body and name in refused and other not in refused:
            kept[other] = body[name]
    return kept


def _messages(request: ModelRequest, dialect: ChatDialect) -> list[Wire]:
    messages: list[Wire] = []
    system = "\n\n".join(mend(block.text) for block in request.system if block.text.strip())
    if system:
        messages.append({"role": "system", "content": system})
    images: tuple[ContentPart, ...] = ()
    for entry in entries_of(request.messages, vision=request.profile.vision):
        messages += _entry(entry, request, dialect, images)
        images = _images(entry.results) if isinstance(entry, ModelEntry) else ()
    if images:
        messages.append({"role": "user", "content": _content(images)})
    if request.late_system and request.late_system.strip():
        messages.append({"role": "system", "content": mend(request.late_system)})
    return messages


def _entry(
    entry: Entry, request: ModelRequest, dialect: ChatDialect, images: tuple[ContentPart, ...]
) -> list[Wire]:
    if isinstance(entry, UserEntry):
        return [{"role": "user", "content": _content(images + entry.parts)}]
    before: list[Wire] = [{"role": "user", "content": _content(images)}] if images else []
    return [*before, _assistant(entry, request, dialect), *(_result(result) for result in entry.results)]


def _assistant(entry: ModelEntry, request: ModelRequest, dialect: ChatDialect) -> Wire:
    message: Wire = {"role": "assistant", "content": entry.text or None}
    if entry.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": arguments_text(call.arguments),
                },
            }
            for call in entry.calls
        ]
    for part in entry.message.provider_parts:
        if _returns(part, request, dialect):
            message |= {field: part.data[field] for field in REASONING_FIELDS if field in part.data}
    return message


def _returns(part: ProviderPart, request: ModelRequest, dialect: ChatDialect) -> bool:
    return (
        part.provider == PROVIDER
        and part.family == request.profile.family
        and part.data.get("endpoint") == dialect.endpoint
    )


def _result(result: ResultEntry) -> Wire:
    text = "\n\n".join(part.text for part in result.parts if part.type == "text")
    return {"role": "tool", "tool_call_id": result.call.id, "content": text or "(an image, shown below)"}


def _images(results: Sequence[ResultEntry]) -> tuple[ContentPart, ...]:
    return tuple(part for result in results for part in result.parts if part.type == "image")


def _content(parts: Sequence[ContentPart]) -> str | list[Wire]:
    if all(part.type == "text" for part in parts):
        return "\n\n".join(part.text for part in parts)
    return [_part(part) for part in parts]


def _part(part: ContentPart) -> Wire:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}


def _tool(tool: ToolSpec) -> Wire:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


__all__ = ["PROVIDER", "REASONING_FIELDS", "ChatDialect", "encode_chat", "refused_parameter", "without"]
