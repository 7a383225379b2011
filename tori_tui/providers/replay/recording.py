'''Recorded replies: a file that one can write by hand, or the trace of an earlier session.

Must not run anything; `provider` plays what stands here.

A recording is TOML (`NAME.toml`); each `[[reply]]` answers one request, in order:

    [[reply]]
    thinking = "First I look."             # optional
    text = "I look at the tests first."    # optional
    input_tokens = 900                     # optional, as are output_tokens and cached_tokens

    [[reply.call]]                         # any number
    name = "read_file"
    arguments = { path = "shop/cart.py" }

    [[reply.call]]
    name = "bash"
    arguments = """{"command": "pytest -q"}"""     # a string is sent as it is, also broken JSON

or JSON lines (`NAME.jsonl`), one reply a line with the same keys (`call` is a list), or a trace
directory (or its `messages.jsonl`): the main context's replies of that session, in order.
'''

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tori_tui.domain.errors import UsageError
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.usage import Usage
from tori_tui.providers.json_values import mapping_of, mappings_of, number_of, text_of


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call of a recorded reply."""

    name: str
    arguments: str
    """JSON text, as a model would write it."""


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """What the model said to one request."""

    text: str = ""
    thinking: str = ""
    calls: tuple[RecordedCall, ...] = ()
    usage: Usage | None = None


def read_recording(path: Path) -> tuple[RecordedReply, ...]:
    """Return the replies of a recording.

    Raises:
        UsageError: The file is missing, is no recording, or holds no reply.
    """
    if path.is_dir():
        path = path / "messages.jsonl"
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise UsageError(
            f"The recorded replies {str(path)!r} cannot be read: {error.strerror}",
            "Write replay/PATH with a .toml or .jsonl file, or a trace directory.",
        ) from error
    replies = _from_toml(text, path) if path.suffix == ".toml" else _from_lines(text)
    if not replies:
        raise UsageError(
            f"The recording {str(path)!r} holds no reply.",
            "A .toml recording has [[reply]] tables, a .jsonl one an object a line.",
        )
    return replies


def _from_toml(text: str, path: Path) -> tuple[RecordedReply, ...]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The recording {str(path)!r} is no TOML: {error}") from error
    return tuple(_reply(reply) for reply in mappings_of(table.get("reply")))


def _from_lines(text: str) -> tuple[RecordedReply, ...]:
    replies: list[RecordedReply] = []
    for record in _objects(text.splitlines()):
        if "kind" not in record:
            replies.append(_reply(record))
        elif _is_main_reply(record):
            replies.append(_traced_reply(record))
    return tuple(replies)


def _objects(lines: Iterable[str]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _is_main_reply(record: Mapping[str, Any]) -> bool:
    return (
        record.get("kind") == "message"
        and record.get("role") == "assistant"
        and record.get("context", MAIN_CONTEXT) == MAIN_CONTEXT
        and not record.get("interrupted")
    )


def _reply(data: Mapping[str, Any]) -> RecordedReply:
    calls = tuple(
        RecordedCall(text_of(call.get("name")), _arguments(call.get("arguments", {})))
        for call in mappings_of(data.get("call"))
    )
    usage = Usage(
        number_of(data.get("input_tokens")),
        number_of(data.get("output_tokens")),
        number_of(data.get("cached_tokens")),
    )
    return RecordedReply(
        text_of(data.get("text")), text_of(data.get("thinking")), calls, usage if usage.total_tokens else None
    )


def _traced_reply(record: Mapping[str, Any]) -> RecordedReply:
    content = record.get("content")
    text = "".join(text_of(part.get("text")) for part in mappings_of(content)) or text_of(content)
    calls = tuple(
        RecordedCall(
            text_of(call.get("name")),
            _arguments(call.get("arguments_raw") or call.get("arguments") or {}),
        )
        for call in mappings_of(record.get("tool_calls"))
    )
    counts = mapping_of(record.get("usage"))
    usage = Usage(*(number_of(counts.get(name)) for name in Usage.__dataclass_fields__))
    return RecordedReply(text, "", calls, usage if usage.total_tokens else None)


def _arguments(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


__all__ = ["RecordedCall", "RecordedReply", "read_recording"]
