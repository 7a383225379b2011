"""A request as the body of a Messages call.

Pure. Must not read the environment nor know how the body is sent.

Shape: system blocks at the top, user and assistant messages in turn, the results of a reply's
calls first in the user message after it and the user's text behind them, a late system message
last, directly after a user message. Cache breakpoints: the end of the system prompt (tools stand
before it), and the newest marks of the request, four in all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tori_tui.domain.messages import ContentPart, ProviderPart, ToolCall
from tori_tui.domain.request import Effort, ModelRequest, ToolSpec
from tori_tui.providers.history import Entry, ModelEntry, ResultEntry, entries_of
from tori_tui.providers.reply_order import Piece, in_order
from tori_tui.providers.surrogates import mend

PROVIDER: Final = "anthropic"

BLOCK: Final = "block"
"""Key of a part's data: a thinking block, verbatim."""

BREAKPOINTS: Final = 4
"""The API takes no more."""

CACHE: Final[Mapping[str, str]] = {"type": "ephemeral"}

EFFORTS: Final[Mapping[Effort, str]] = {"minimal": "low"}
"""Where the wire has another word; see `anthropic.types.OutputConfigParam`."""

Wire = dict[str, Any]


def encode_messages(request: ModelRequest) -> Wire:
    """Return the JSON body of the call."""
    body: Wire = {
        "model": request.profile.model,
        "max_tokens": request.max_output_tokens or request.profile.output_limit_tokens,
        "messages": _messages(request),
        "stream": True,
    }
    system: list[Wire] = [
        {"type": "text", "text": mend(block.text)} for block in request.system if block.text.strip()
    ]
    tools = [_tool(tool) for tool in request.tools]
    if system:
        system[-1]["cache_control"] = dict(CACHE)
        body["system"] = system
    elif tools:
        tools[-1]["cache_control"] = dict(CACHE)
    if tools:
        body["tools"] = tools
    if request.effort and request.effort in request.profile.efforts:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        body["output_config"] = {"effort": EFFORTS.get(request.effort, request.effort)}
    return body


def _messages(request: ModelRequest) -> list[Wire]:
    entries = entries_of(request.messages, vision=request.profile.vision)
    marked = _marked(entries, request.cache_marks)
    messages: list[Wire] = []
    results: list[Wire] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, ModelEntry):
            if results:
                messages.append({"role": "user", "content": results})
            pieces = in_order(entry, PROVIDER, request.profile.family)
            blocks = [block for piece in pieces if (block := _block(piece)) is not None]
            messages.append({"role": "assistant", "content": blocks})
            results = [_result(result) for result in entry.results]
            last = results or blocks
        else:
            last = [*results, *(_part(part) for part in entry.parts)]
            messages.append({"role": "user", "content": last})
            results = []
        if number in marked:
            last[-1]["cache_control"] = dict(CACHE)
    if results:
        messages.append({"role": "user", "content": results})
    if request.late_system and request.late_system.strip():
        messages.append({"role": "system", "content": mend(request.late_system)})
    return messages


def _marked(entries: Sequence[Entry], marks: Sequence[int]) -> set[int]:
    """Return the numbers of the entries that end a marked prefix; the newest win."""
    numbers = {
        next((number for number, entry in enumerate(entries) if entry.last_index >= mark), len(entries) - 1)
        for mark in marks
    }
    return set(sorted(numbers)[-(BREAKPOINTS - 1) :])


def _block(piece: Piece) -> Wire | None:
    match piece:
        case str():
            return {"type": "text", "text": piece}
        case ProviderPart():
            kept = piece.data.get(BLOCK)
            return dict(kept) if isinstance(kept, dict) else None
        case ToolCall():
            return {"type": "tool_use", "id": piece.id, "name": piece.name, "input": piece.arguments}


def _result(result: ResultEntry) -> Wire:
    block: Wire = {
        "type": "tool_result",
        "tool_use_id": result.call.id,
        "content": [_part(part) for part in result.parts],
    }
    return block | ({"is_error": True} if result.is_error else {})


def _part(part: ContentPart) -> Wire:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def _tool(tool: ToolSpec) -> Wire:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


__all__ = ["BLOCK", "PROVIDER", "encode_messages"]
