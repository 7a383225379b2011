"""A request as the body of a Responses call.

Pure. Must not read the environment nor know how the body is sent. Nothing is stored at the
provider: the whole history goes with each request, reasoning items encrypted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tori_tui.domain.messages import ContentPart, ProviderPart, ToolCall
from tori_tui.domain.request import ModelRequest, ToolSpec
from tori_tui.providers.history import Entry, ResultEntry, UserEntry, arguments_text, entries_of
from tori_tui.providers.openai.chat_encode import EFFORTS
from tori_tui.providers.reply_order import Piece, in_order
from tori_tui.providers.surrogates import mend

PROVIDER: Final = "openai"

ITEM: Final = "item"
"""Key of a part's data: a reasoning item, verbatim."""

PHASE: Final = "phase"
"""Key of a part's data: what the model called its text (commentary or answer); it wants it back."""

Wire = dict[str, Any]


def encode_responses(request: ModelRequest) -> Wire:
    """Return the JSON body of the call."""
    body: Wire = {
        "model": request.profile.model,
        "input": _input(request),
        "stream": True,
        "store": False,
    }
    system = "\n\n".join(mend(block.text) for block in request.system if block.text.strip())
    if system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if request.profile.efforts:
        body["include"] = ["reasoning.encrypted_content"]
        body["reasoning"] = {"summary": "auto"}
        if request.effort in request.profile.efforts:
            body["reasoning"]["effort"] = EFFORTS.get(request.effort, request.effort)
    if request.cache_key:
        body["prompt_cache_key"] = request.cache_key
    return body


def _input(request: ModelRequest) -> list[Wire]:
    items: list[Wire] = []
    for entry in entries_of(request.messages, vision=request.profile.vision):
        items += _entry(entry, request.profile.family)
    if request.late_system and request.late_system.strip():
        items.append({"role": "developer", "content": mend(request.late_system)})
    return items


def _entry(entry: Entry, family: str) -> list[Wire]:
    if isinstance(entry, UserEntry):
        return [{"role": "user", "content": _content(entry.parts)}]
    pieces = tuple(in_order(entry, PROVIDER, family))
    items = [item for piece in pieces if (item := _piece(piece, pieces)) is not None]
    return [*items, *(_result(result) for result in entry.results)]


def _piece(piece: Piece, pieces: Sequence[Piece]) -> Wire | None:
    match piece:
        case str():
            item: Wire = {"role": "assistant", "content": piece}
            phases = [
                part.data[PHASE] for part in pieces if isinstance(part, ProviderPart) and PHASE in part.data
            ]
            return item | ({"phase": phases[0]} if phases else {})
        case ProviderPart():
            kept = piece.data.get(ITEM)
            return dict(kept) if isinstance(kept, dict) else None
        case ToolCall():
            arguments = arguments_text(piece.arguments)
            return {"type": "function_call", "call_id": piece.id, "name": piece.name, "arguments": arguments}


def _result(result: ResultEntry) -> Wire:
    return {"type": "function_call_output", "call_id": result.call.id, "output": _content(result.parts)}


def _content(parts: Sequence[ContentPart]) -> str | list[Wire]:
    if all(part.type == "text" for part in parts):
        return "\n\n".join(part.text for part in parts)
    return [_part(part) for part in parts]


def _part(part: ContentPart) -> Wire:
    if part.type == "text":
        return {"type": "input_text", "text": part.text}
    return {
        "type": "input_image",
        "detail": "auto",
        "image_url": f"data:{part.media_type};base64,{part.data}",
    }


def _tool(tool: ToolSpec) -> Wire:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


__all__ = ["ITEM", "PHASE", "PROVIDER", "encode_responses"]
