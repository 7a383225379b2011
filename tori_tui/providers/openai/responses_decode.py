"""The events of a Responses stream as tori's events.

Pure. Must not read from a socket nor decide what a reply is worth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
from tori_tui.providers.http_failure import failure_from_event, garbled
from tori_tui.providers.json_values import mapping_of, mappings_of, number_of, text_of
from tori_tui.providers.openai.responses_encode import ITEM, PHASE, PROVIDER
from tori_tui.providers.reply_order import AT
from tori_tui.providers.sse import SseEvent
from tori_tui.providers.surrogates import PieceMender

INCOMPLETE: Final[Mapping[str, StopReason]] = {"max_output_tokens": "length", "content_filter": "refusal"}


class ResponsesDecoder:
    """Decodes one stream.

    Args:
        family: Model family, kept with its reasoning items.
    """

    def __init__(self, family: str) -> None:
        self._family = family
        self._text = PieceMender()
        self._thinking = PieceMender()
        self._n_text_chars = 0
        self._done_items: set[str] = set()
        self._streamed: set[str] = set()
        self._calls: set[str] = set()
        self._has_thought = False
        self._is_refusal = False
        self.is_finished = False
        """Whether the end marker came and nothing more is to be read."""

    @property
    def is_ending(self) -> bool:
        """Nothing follows the end marker here, so there is no state between."""
        return self.is_finished

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        """Return what one server-sent event says.

        Raises:
            ProviderError: The server reports an error, or sends something else than JSON.
        """
        if event.data.lstrip().startswith("[DONE]"):
            return []
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError) as error:
            raise garbled(event.data) from error
        if not isinstance(data, dict):
            raise garbled(event.data)
        return list(self._events(text_of(data.get("type")) or event.event, data))

    def end_of_stream(self) -> list[StreamEvent]:
        """Return nothing: without its end marker the reply was cut."""
        return []

    def _events(self, kind: str, data: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._is_refusal |= kind == "response.refusal.delta"
                self._streamed.add(_key(data))
                yield from self._say(text_of(data.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield from self._think(text_of(data.get("delta")))
            case "response.reasoning_summary_part.added" if self._has_thought:
                yield from self._think("\n\n")
            case "response.output_item.added":
                yield from self._begin(_key(data), mapping_of(data.get("item")))
            case "response.function_call_arguments.delta":
                self._streamed.add(_key(data))
                yield CallDelta(_key(data), arguments=text_of(data.get("delta")))
            case "response.output_item.done":
                yield from self._item(_key(data), mapping_of(data.get("item")))
            case "response.completed" | "response.incomplete" | "response.done":
                yield from self._finish(mapping_of(data.get("response")), kind)
            case "response.failed":
                raise failure_from_event(mapping_of(data.get("response")).get("error") or data)
            case "error":
                raise failure_from_event(data.get("error") or data)
            case _ if not kind and data.get("error"):
                raise failure_from_event(data["error"])

    def _begin(self, key: str, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if item.get("type") == "function_call" and key not in self._calls:
            self._calls.add(key)
            yield CallDelta(key, CallId(text_of(item.get("call_id"))), text_of(item.get("name")))

    def _item(self, key: str, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a finished item; what its deltas did not bring comes now."""
        if key in self._done_items:
            return
        self._done_items.add(key)
        match item.get("type"):
            case "reasoning":
                yield self._part({ITEM: dict(item), AT: self._n_text_chars})
            case "function_call":
                yield from self._begin(key, item)
                if key not in self._streamed and (arguments := text_of(item.get("arguments"))):
                    yield CallDelta(key, arguments=arguments)
            case "message":
                if phase := text_of(item.get("phase")):
                    yield self._part({PHASE: phase, AT: 0})
                if key not in self._streamed:
                    for part in mappings_of(item.get("content")):
                        yield from self._say(text_of(part.get("text")) or text_of(part.get("refusal")))

    def _finish(self, response: Mapping[str, Any], kind: str) -> Iterator[StreamEvent]:
        for index, item in enumerate(mappings_of(response.get("output"))):
            yield from self._item(f"item{index}", item)
        if text := self._text.finish():
            yield TextDelta(text)
        if thinking := self._thinking.finish():
            yield ThinkingDelta(thinking)
        if usage := mapping_of(response.get("usage")):
            yield UsageReported(usage_of(usage))
        self.is_finished = True
        yield StreamFinished(self._stop_reason(response, kind))

    def _stop_reason(self, response: Mapping[str, Any], kind: str) -> StopReason:
        if kind == "response.incomplete" or response.get("status") == "incomplete":
            reason = text_of(mapping_of(response.get("incomplete_details")).get("reason"))
            return INCOMPLETE.get(reason, "length")
        if self._calls:
            return "calls"
        return "refusal" if self._is_refusal else "end"

    def _say(self, piece: str) -> Iterator[StreamEvent]:
        if text := self._text.feed(piece):
            self._n_text_chars += len(text)
            yield TextDelta(text)

    def _think(self, piece: str) -> Iterator[StreamEvent]:
        self._has_thought = True
        if text := self._thinking.feed(piece):
            yield ThinkingDelta(text)

    def _part(self, data: dict[str, object]) -> ProviderPartReceived:
        return ProviderPartReceived(ProviderPart(PROVIDER, self._family, data))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Return the counts of a `usage` object; cached and written tokens are part of the input's."""
    details = mapping_of(usage.get("input_tokens_details"))
    return Usage(
        input_tokens=number_of(usage.get("input_tokens")),
        output_tokens=number_of(usage.get("output_tokens")),
        cached_tokens=number_of(details.get("cached_tokens")),
        cache_written_tokens=number_of(details.get("cache_write_tokens")),
        reasoning_tokens=number_of(mapping_of(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _key(data: Mapping[str, Any]) -> str:
    return f"item{number_of(data.get('output_index'))}"


__all__ = ["ResponsesDecoder", "usage_of"]
