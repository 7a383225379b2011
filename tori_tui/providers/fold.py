"""From the events of one stream to one reply.

Must not run, validate or show anything; a reply that did not end is never handed out as whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import JsonObject, ProviderPart, ToolCall
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
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.surrogates import mend, mend_value

CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every protocol takes as a call id (Anthropic: the characters; Responses: the length)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer of the model."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """In the order in which the model began them. Ids are unique in the session; a call whose
    arguments are no JSON object has `arguments_raw` and must be answered, not run."""
    provider_parts: tuple[ProviderPart, ...] = ()
    usage: Usage | None = None
    """None where the server reported none."""
    stop_reason: StopReason = "end"


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class ReplyFold:
    """Collects the events of one stream.

    Args:
        used_ids: Call ids that the session already has.
        new_id: Gives a fresh call id; asked again while it gives a used one.
    """

    def __init__(self, used_ids: Container[str], new_id: Callable[[], str]) -> None:
        self._used_ids = used_ids
        self._new_id = new_id
        self._text: list[str] = []
        self._calls: dict[str, _OpenCall] = {}
        self._parts: list[tuple[ProviderPart, str | None]] = []
        self._usage: Usage | None = None
        self._stop_reason: StopReason | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the server's end marker came."""
        return self._stop_reason is not None

    @property
    def has_output(self) -> bool:
        """Whether anything came that a reader may have seen."""
        return bool(self._text or self._calls)

    @property
    def text(self) -> str:
        """The answer text so far; of a reply that was cut, all that may be kept."""
        return mend("".join(self._text))

    @property
    def usage(self) -> Usage | None:
        """The newest token counts so far."""
        return self._usage

    def add(self, event: StreamEvent) -> None:
        """Take the next event."""
        match event:
            case TextDelta():
                self._text.append(event.text)
            case ThinkingDelta():
                pass
            case CallDelta():
                self._add_call(event)
            case ProviderPartReceived():
                self._parts.append((event.part, None))
            case UsageReported():
                self._usage = event.usage
            case StreamFinished():
                self._stop_reason = event.stop_reason
            case _:
                assert_never(event)

    def reply(self) -> Reply:
        """Return the whole reply.

        Raises:
            ProviderError: The end marker has not come (fault `cut`).
        """
        if self._stop_reason is None:
            raise ProviderError("The reply was cut: the stream ended without its end marker.", fault="cut")
        is_cut = self._stop_reason == "length"
        taken: set[str] = set()
        calls: dict[str, ToolCall] = {}
        for key, call in self._calls.items():
            calls[key] = _tool_call(self._unique_id(call.id, taken), call, is_cut)
        parts = tuple(
            replace(part, call_id=calls[key].id) if key is not None else part for part, key in self._parts
        )
        return Reply(self.text, tuple(calls.values()), parts, self._usage, self._stop_reason)

    def _add_call(self, delta: CallDelta) -> None:
        call = self._calls.get(delta.key)
        if call is None:
            call = self._calls[delta.key] = _OpenCall()
            self._parts = [(part, delta.key if key is None else key) for part, key in self._parts]
        call.id = call.id or delta.id or ""
        call.name = call.name or delta.name
        if delta.arguments:
            call.pieces.append(delta.arguments)

    def _unique_id(self, wanted: str, taken: set[str]) -> CallId:
        call_id = wanted if CALL_ID.fullmatch(wanted) else self._new_id()
        while call_id in taken or call_id in self._used_ids:
            call_id = self._new_id()
        taken.add(call_id)
        return CallId(call_id)


def _tool_call(call_id: CallId, call: _OpenCall, is_cut: bool) -> ToolCall:
    raw = mend("".join(call.pieces))
    name = mend(call.name)
    arguments = None if is_cut and not raw.strip() else read_arguments(raw)
    if arguments is None:
        return ToolCall(call_id, name, {}, raw)
    return ToolCall(call_id, name, arguments)


def read_arguments(raw: str) -> JsonObject | None:
    """Return the arguments that a call's text certainly means, or None.

    Nothing and `null` mean no arguments; a JSON string that holds a JSON object means that object.
    All else that is not a JSON object is left to the model to write again.

    Example:
        >>> read_arguments(""), read_arguments('{"a": 1}'), read_arguments('{"a": ')
        ({}, {'a': 1}, None)
    """
    if not raw.strip():
        return {}
    value = _read_json(raw)
    if isinstance(value, str):
        value = _read_json(value)
    if value is None:
        return {} if raw.strip() == "null" else None
    if not isinstance(value, dict):
        return None
    mended = mend_value(value)
    return mended if isinstance(mended, dict) else None


def _read_json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


__all__ = ["CALL_ID", "Reply", "ReplyFold", "read_arguments"]
