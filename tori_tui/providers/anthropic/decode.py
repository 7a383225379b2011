"""The events of a Messages stream as tori's events.

Pure. Must not read from a socket nor decide what a reply is worth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ProviderPart
from tori_tui.domain.usage import Usage
from tori_tui.providers.anthropic.encode import BLOCK, PROVIDER
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
from tori_tui.providers.json_values import mapping_of, number_of, text_of
from tori_tui.providers.reply_order import AT
from tori_tui.providers.sse import SseEvent
from tori_tui.providers.surrogates import PieceMender

STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

THINKING: Final = ("thinking", "redacted_thinking")


class MessagesDecoder:
    """Decodes one stream.

    Args:
        family: Model family, kept with its thinking.
    """

    def __init__(self, family: str) -> None:
        self._family = family
        self._text = PieceMender()
        self._thinking = PieceMender()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._with_arguments: set[int] = set()
        self._usage: dict[str, int] = {}
        self._n_text_chars = 0
        self._has_calls = False
        self._stop_reason = ""
        self.is_finished = False
        """Whether the end marker came and nothing more is to be read."""

    @property
    def is_ending(self) -> bool:
        """Whether the reply is whole and only the end marker may follow."""
        return bool(self._stop_reason)

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        """Return what one server-sent event says.

        Raises:
            ProviderError: The server reports an error, or sends something else than JSON.
        """
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError) as error:
            raise garbled(event.data) from error
        if not isinstance(data, dict):
            raise garbled(event.data)
        return list(self._events(text_of(data.get("type")) or event.event, data))

    def end_of_stream(self) -> list[StreamEvent]:
        """Return the last events after the connection closed; empty if the reply was cut."""
        return list(self._finish()) if self._stop_reason and not self.is_finished else []

    def _events(self, kind: str, data: Mapping[str, Any]) -> Iterator[StreamEvent]:
        index = number_of(data.get("index"))
        match kind:
            case "message_start":
                yield from self._count(mapping_of(mapping_of(data.get("message")).get("usage")))
            case "content_block_start":
                yield from self._begin(index, dict(mapping_of(data.get("content_block"))))
            case "content_block_delta":
                yield from self._delta(index, mapping_of(data.get("delta")))
            case "content_block_stop":
                yield from self._end(index)
            case "message_delta":
                self._stop_reason = (
                    text_of(mapping_of(data.get("delta")).get("stop_reason")) or self._stop_reason
                )
                yield from self._count(mapping_of(data.get("usage")))
            case "message_stop":
                yield from self._finish()
            case "error":
                raise failure_from_event(data.get("error") or data)

    def _begin(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        self._blocks[index] = block
        match block.get("type"):
            case "tool_use":
                self._has_calls = True
                yield CallDelta(_key(index), CallId(text_of(block.get("id"))), text_of(block.get("name")))
            case "text":
                yield from self._say(text_of(block.get("text")))
            case "thinking":
                yield from self._think(text_of(block.get("thinking")))

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        block = self._blocks.setdefault(index, {})
        match delta.get("type"):
            case "text_delta":
                yield from self._say(text_of(delta.get("text")))
            case "thinking_delta":
                block["thinking"] = text_of(block.get("thinking")) + text_of(delta.get("thinking"))
                yield from self._think(text_of(delta.get("thinking")))
            case "signature_delta":
                block["signature"] = text_of(block.get("signature")) + text_of(delta.get("signature"))
            case "input_json_delta":
                if piece := text_of(delta.get("partial_json")):
                    self._with_arguments.add(index)
                    yield CallDelta(_key(index), arguments=piece)

    def _end(self, index: int) -> Iterator[StreamEvent]:
        block = self._blocks.get(index, {})
        if block.get("type") in THINKING:
            data = {BLOCK: block, AT: self._n_text_chars}
            yield ProviderPartReceived(ProviderPart(PROVIDER, self._family, data))
        elif block.get("type") == "tool_use" and index not in self._with_arguments and block.get("input"):
            yield CallDelta(_key(index), arguments=json.dumps(block["input"]))

    def _finish(self) -> Iterator[StreamEvent]:
        self.is_finished = True
        if text := self._text.finish():
            yield TextDelta(text)
        if thinking := self._thinking.finish():
            yield ThinkingDelta(thinking)
        reason = STOP_REASONS.get(self._stop_reason or "end_turn", "other")
        if reason in ("end", "calls"):
            reason = "calls" if self._has_calls else "end"
        yield StreamFinished(reason)

    def _count(self, usage: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take counts; they are cumulative, and either event may bring any of them."""
        if not usage:
            return
        details = mapping_of(usage.get("output_tokens_details"))
        counts = {**usage, "thinking_tokens": details.get("thinking_tokens")}
        for name, value in counts.items():
            self._usage[name] = max(self._usage.get(name, 0), number_of(value))
        yield UsageReported(_usage(self._usage))

    def _say(self, piece: str) -> Iterator[StreamEvent]:
        if text := self._text.feed(piece):
            self._n_text_chars += len(text)
            yield TextDelta(text)

    def _think(self, piece: str) -> Iterator[StreamEvent]:
        if text := self._thinking.feed(piece):
            yield ThinkingDelta(text)


def _usage(counts: Mapping[str, int]) -> Usage:
    """Return the counts as tori has them: what is cached or written comes on top of the input."""
    cached = counts.get("cache_read_input_tokens", 0)
    written = counts.get("cache_creation_input_tokens", 0)
    return Usage(
        input_tokens=counts.get("input_tokens", 0) + cached + written,
        output_tokens=counts.get("output_tokens", 0),
        cached_tokens=cached,
        cache_written_tokens=written,
        reasoning_tokens=counts.get("thinking_tokens", 0),
    )


def _key(index: int) -> str:
    return f"block{index}"


__all__ = ["MessagesDecoder"]
