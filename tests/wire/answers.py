"""What a scripted server may answer, the same for every protocol, and what it was asked.

Must not know how a protocol writes an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["chat", "responses", "messages"]

Ending = Literal["close", "hold", "reset"]


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call. `arguments` is an object or, for broken ones, JSON text."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    id: str | None = None
    """None: the server makes one that is unique in its life."""


@dataclass(frozen=True, slots=True)
class WireUsage:
    """Token counts as tori counts them: `cached` is a part of `input`."""

    input: int
    output: int
    cached: int = 0
    written: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class WireReply:
    """An answer of the model, streamed in small pieces.

    With `cut_after` the stream ends after so many server-sent events: closed, held open in
    silence, or reset.
    """

    text: str = ""
    calls: tuple[WireCall, ...] = ()
    thinking: str = ""
    usage: WireUsage | None = None
    """None: estimated from the request's size, cached by the prefix it shares with the last one."""
    stop: Literal["", "length", "refusal"] = ""
    piece_chars: int = 16
    first_delay_s: float = 0.0
    piece_delay_s: float = 0.0
    cut_after: int | None = None
    ending: Ending = "close"


@dataclass(frozen=True, slots=True)
class WireRefusal:
    """An HTTP error. A mapping is sent as JSON, a string as it is."""

    status: int
    body: Mapping[str, object] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """Bytes as they are, each piece in a packet of its own, for stream faults."""

    pieces: tuple[bytes, ...]
    ending: Ending = "close"
    content_type: str = "text/event-stream"
    piece_delay_s: float = 0.0
    repeat: bool = False
    """Send the pieces again and again, until the client goes."""


Answer = WireReply | WireRefusal | RawAnswer


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One captured request."""

    protocol: Protocol
    number: int
    """The first is 1; counts every request of the server's life."""
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    violations: tuple[str, ...] = ()
    """What the provider's own rules say against it."""

    @property
    def items(self) -> Sequence[Mapping[str, Any]]:
        """The history: `messages`, or `input` with Responses."""
        items = self.body.get("input" if self.protocol == "responses" else "messages", [])
        return [item for item in items if isinstance(item, dict)]

    @property
    def n_replies(self) -> int:
        """How many replies of the model the history holds; a script by history goes by it."""
        if self.protocol != "responses":
            return sum(item.get("role") == "assistant" for item in self.items)
        n_replies, is_inside = 0, False
        for item in self.items:
            is_model = item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")
            n_replies += is_model and not is_inside
            is_inside = is_model
        return n_replies

    @property
    def system_texts(self) -> list[str]:
        """All system texts in order, the late one last."""
        first = [_text(self.body.get("instructions")), _text(self.body.get("system"))]
        later = [
            _text(item.get("content")) for item in self.items if item.get("role") in ("system", "developer")
        ]
        return [text for text in first + later if text]

    @property
    def user_texts(self) -> list[str]:
        """The user's texts in order (with Messages also those beside results)."""
        return [
            text for item in self.items if item.get("role") == "user" and (text := _text(item.get("content")))
        ]

    @property
    def results(self) -> list[str]:
        """The texts of all tool results in order."""
        texts: list[str] = []
        for item in self.items:
            if item.get("role") == "tool":
                texts.append(_text(item.get("content")))
            elif item.get("type") == "function_call_output":
                texts.append(_text(item.get("output")))
            elif isinstance(item.get("content"), list):
                blocks = [block for block in item["content"] if block.get("type") == "tool_result"]
                texts += [_text(block.get("content")) for block in blocks]
        return texts

    @property
    def size_tokens(self) -> int:
        """A rough size: a token is four characters."""
        return len(json.dumps(self.body, ensure_ascii=False)) // 4


Script = Callable[[WireRequest], Answer]
"""Chooses the answer by the request alone, so that it goes on rightly after a crash of the client."""


def in_order(*answers: Answer) -> Script:
    """Return a script that gives the n-th request the n-th answer, whatever it says."""

    def script(request: WireRequest) -> Answer:
        if request.number > len(answers):
            return WireRefusal(418, f"the script has only {len(answers)} answers")
        return answers[request.number - 1]

    return script


def by_history(*answers: Answer) -> Script:
    """Return a script that goes by the number of replies in the history that it is sent."""

    def script(request: WireRequest) -> Answer:
        if request.n_replies >= len(answers):
            return WireRefusal(418, f"the script has only {len(answers)} answers")
        return answers[request.n_replies]

    return script


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n\n".join(
        str(part["text"]) for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


__all__ = [
    "Answer",
    "Ending",
    "Protocol",
    "RawAnswer",
    "Script",
    "WireCall",
    "WireRefusal",
    "WireReply",
    "WireRequest",
    "WireUsage",
    "by_history",
    "in_order",
]
