"""The chunks of a Chat Completions stream as events, whatever compatible servers make of them.

Pure. Must not read from a socket nor decide what a reply is worth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ProviderPart
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import (
    CallDelta,
    ProviderPartReceived,
    StopReason,
    StreamEvent,
    StreamFinished,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tori_tui.providers.fold import read_arguments
from tori_tui.providers.http_failure import failure_from_event, garbled
from tori_tui.providers.json_values import mapping_of, mappings_of, number_of, text_of
from tori_tui.providers.openai.chat_encode import PROVIDER
from tori_tui.providers.sse import SseEvent
from tori_tui.providers.surrogates import PieceMender

DONE: Final = "[DONE]"

STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
}


@dataclass(slots=True)
class _Call:
    key: str
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        raw = "".join(self.arguments)
        return bool(raw.strip()) and read_arguments(raw) is not None


class ChatDecoder:
    """Decodes one stream.

    Args:
        endpoint: Host of the server, kept with its thinking.
        family: Model family, kept with its thinking.
    """

    def __init__(self, endpoint: str, family: str) -> None:
        self._endpoint = endpoint
        self._family = family
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reasoning: dict[str, list[str]] = {}
        self._details: list[dict[str, Any]] = []
        self._text = PieceMender()
        self._thinking = PieceMender()
        self._finish_reason: str | None = None
        self._has_text = False
        self.is_finished = False
        """Whether the end marker came and nothing more is to be read."""

    @property
    def is_ending(self) -> bool:
        """Whether the reply is whole and only token counts or the end marker may follow."""
        return self._finish_reason is not None

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        """Return what one server-sent event says.

        Raises:
            ProviderError: The server reports an error, or sends something else than JSON.
        """
        if event.data.lstrip().startswith(DONE):
            return self._finish()
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError) as error:
            raise garbled(event.data) from error
        if not isinstance(chunk, dict):
            raise garbled(event.data)
        if chunk.get("error"):
            raise failure_from_event(chunk["error"])
        events: list[StreamEvent] = []
        for choice in mappings_of(chunk.get("choices"))[:1]:
            events += self._delta(mapping_of(choice.get("delta")) or mapping_of(choice.get("message")))
            if reason := choice.get("finish_reason"):
                self._finish_reason = str(reason)
        if usage := mapping_of(chunk.get("usage")) or mapping_of(
            mapping_of(chunk.get("x_groq")).get("usage")
        ):
            events.append(UsageReported(usage_of(usage)))
        return events

    def end_of_stream(self) -> list[StreamEvent]:
        """Return the last events after the connection closed; empty if the reply was cut."""
        if self.is_finished or self._finish_reason is None:
            return []
        return self._finish()

    def _finish(self) -> list[StreamEvent]:
        self.is_finished = True
        events: list[StreamEvent] = []
        if text := self._text.finish():
            events.append(TextDelta(text))
        if thinking := self._thinking.finish():
            events.append(ThinkingDelta(thinking))
        data: dict[str, object] = {name: "".join(pieces) for name, pieces in self._reasoning.items()}
        if self._details:
            data["reasoning_details"] = self._details
        if data:
            part = ProviderPart(PROVIDER, self._family, {"endpoint": self._endpoint, **data})
            events.append(ProviderPartReceived(part))
        events.append(StreamFinished(self._stop_reason()))
        return events

    def _stop_reason(self) -> StopReason:
        reason = STOP_REASONS.get(self._finish_reason or "stop", "other")
        if reason in ("end", "calls", "other"):
            return "calls" if self._calls else ("end" if reason == "calls" else reason)
        return reason

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._thinking_events(delta)
        for kind, piece in _content_pieces(delta):
            mender = self._text if kind == "text" else self._thinking
            if text := mender.feed(piece):
                yield TextDelta(text) if kind == "text" else ThinkingDelta(text)
        for fragment in mappings_of(delta.get("tool_calls")):
            yield from self._call_events(fragment)
        if legacy := mapping_of(delta.get("function_call")):
            yield from self._call_events({"index": 0, "function": legacy})

    def _thinking_events(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        shown = ""
        for name in ("reasoning_content", "reasoning"):
            if piece := text_of(delta.get(name)):
                self._reasoning.setdefault(name, []).append(piece)
                shown = shown or piece
        for detail in mappings_of(delta.get("reasoning_details")):
            piece = text_of(detail.get("text")) or text_of(detail.get("summary"))
            _merge_detail(self._details, detail)
            shown = shown or piece
        if shown and (text := self._thinking.feed(shown)):
            yield ThinkingDelta(text)

    def _call_events(self, fragment: Mapping[str, Any]) -> Iterator[StreamEvent]:
        function = mapping_of(fragment.get("function"))
        call_id, name = text_of(fragment.get("id")), text_of(function.get("name"))
        arguments = function.get("arguments")
        piece = json.dumps(arguments) if isinstance(arguments, dict) else text_of(arguments)
        raw_index = fragment.get("index")
        index = raw_index if isinstance(raw_index, int) else None
        call = self._find(index, call_id, name, piece)
        if call is None:
            call = _Call(f"call{len(self._calls)}")
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        new_id = "" if call.id else call_id
        new_name = "" if call.name else name
        call.id, call.name = call.id or call_id, call.name or name
        call.arguments.append(piece)
        yield CallDelta(call.key, CallId(new_id) if new_id else None, new_name, piece)

    def _find(self, index: int | None, call_id: str, name: str, piece: str) -> _Call | None:
        """Return the call that a fragment continues; None if it begins another.

        The index decides, except where a server gives every call the same one: then another id
        begins a call (or goes on with the one that has it), and so does a name with new arguments
        after arguments that are already whole.
        """
        if index is not None:
            call = self._by_index.get(index)
            if call is not None and call_id and call.id and call.id != call_id:
                return next((known for known in self._calls if known.id == call_id), None)
        elif call_id:
            call = next((known for known in reversed(self._calls) if known.id == call_id), None)
        else:
            call = self._calls[-1] if self._calls else None
        if call is not None and name and piece.lstrip().startswith("{") and call.is_complete:
            return None
        if call is not None and index is None and not call_id and name and call.name not in ("", name):
            return None
        return call


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Return the counts of a `usage` object; cached tokens are part of the prompt's."""
    prompt = mapping_of(usage.get("prompt_tokens_details"))
    completion = mapping_of(usage.get("completion_tokens_details"))
    return Usage(
        input_tokens=number_of(usage.get("prompt_tokens")),
        output_tokens=number_of(usage.get("completion_tokens")),
        cached_tokens=number_of(prompt.get("cached_tokens"))
        or number_of(usage.get("prompt_cache_hit_tokens")),
        cache_written_tokens=number_of(prompt.get("cache_write_tokens")),
        reasoning_tokens=number_of(completion.get("reasoning_tokens")),
    )


def _content_pieces(delta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (`text` or `thinking`, piece); content is a string or, with some servers, a list of parts."""
    content = delta.get("content")
    if isinstance(content, str):
        yield "text", content
    for part in mappings_of(content):
        if part.get("type") == "thinking":
            yield from (
                ("thinking", text_of(inner.get("text"))) for inner in mappings_of(part.get("thinking"))
            )
        else:
            yield "text", text_of(part.get("text"))
    if refusal := text_of(delta.get("refusal")):
        yield "text", refusal


def _merge_detail(details: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Add a fragment of `reasoning_details` to the entry of the same type and index."""
    key = (piece.get("type"), piece.get("index"))
    known = next((detail for detail in details if (detail.get("type"), detail.get("index")) == key), None)
    if known is None:
        details.append(dict(piece))
        return
    for name, value in piece.items():
        if name in ("text", "summary", "data") and isinstance(value, str):
            known[name] = text_of(known.get(name)) + value
        elif value is not None:
            known[name] = value


__all__ = ["ChatDecoder", "usage_of"]
