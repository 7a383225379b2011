"""A message list in the one shape that every protocol accepts, whatever befell the session.

Must not know a protocol's fields; the encoders write these entries out. The result depends on the
messages alone, and a longer list begins with what a shorter one gave (its last entry aside), so
that prompt caches hold.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import Content, ContentPart, Message, ToolCall
from tori_tui.domain.value import Value, often_made
from tori_tui.providers.fold import CALL_ID
from tori_tui.providers.surrogates import mend, mend_value

PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

NOTHING_TO_SAY: Final = "Go on."
"""Stands where a protocol needs a user's word and the history has none."""

NO_OUTPUT: Final = "(no output)"

NOT_RUN: Final = "Not run: the session was interrupted before this call had a result."

arguments_text: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""A call's arguments as the text in which protocols send them; made once, as a history holds many calls."""


@often_made
class UserEntry(Value):
    """What the user's side said since the model's last word; never empty."""

    parts: tuple[ContentPart, ...]
    last_index: int
    """Index of the last of its messages; -1 where it was filled in."""


@often_made
class ResultEntry(Value):
    """What one call gave; its parts are never empty."""

    call: ToolCall
    parts: tuple[ContentPart, ...]
    is_error: bool


@often_made
class ModelEntry(Value):
    """One reply of the model with exactly one result for each of its calls, in call order."""

    message: Message
    calls: tuple[ToolCall, ...]
    results: tuple[ResultEntry, ...]
    last_index: int

    @property
    def text(self) -> str:
        """The answer text; empty where it is only white space."""
        text = mend(self.message.text)
        return text if text.strip() else ""


Entry = UserEntry | ModelEntry


def entries_of(messages: Sequence[Message], *, vision: bool) -> tuple[Entry, ...]:
    """Return the history as alternating entries that begin and end with the user's side.

    Adjacent user messages become one entry, since some chat templates want alternation. Replies
    with neither text nor calls vanish; a call without a result is answered "not run"; a result
    without its call vanishes; an id that was used before is made another one.

    Args:
        messages: The request's messages.
        vision: Whether the model sees images; else a note stands for each.
    """
    entries: list[Entry] = []
    used: set[str] = set()
    position = 0
    while position < len(messages):
        message = messages[position]
        if message.role != "assistant":
            if message.role == "user":
                _add_user(entries, _parts(message.content, vision), position)
            position += 1
            continue
        end = position + 1
        while end < len(messages) and messages[end].role == "tool":
            end += 1
        _add_reply(entries, message, messages[position + 1 : end], end - 1, used, vision)
        position = end
    if not entries or (isinstance(entries[-1], ModelEntry) and not entries[-1].calls):
        entries.append(_filler())
    return tuple(entries)


def wire_id(call_id: str) -> CallId:
    """Return an id that every protocol takes: the same, or a digest of one with odd characters."""
    if CALL_ID.fullmatch(call_id):
        return CallId(call_id)
    return CallId("call_" + hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:24])


def _add_user(entries: list[Entry], parts: tuple[ContentPart, ...], index: int) -> None:
    if not parts:
        return
    if entries and isinstance(last := entries[-1], UserEntry):
        entries[-1] = UserEntry(last.parts + parts, index)
    else:
        entries.append(UserEntry(parts, index))


def _add_reply(
    entries: list[Entry],
    message: Message,
    results: Sequence[Message],
    last_index: int,
    used: set[str],
    vision: bool,
) -> None:
    calls = tuple(_wire_call(call, used) for call in message.tool_calls)
    if not calls and not message.text.strip():
        return
    if not entries or (isinstance(last := entries[-1], ModelEntry) and not last.calls):
        entries.append(_filler())
    by_id: dict[str, Message] = {}
    for result in results:
        by_id.setdefault(result.tool_call_id or "", result)
    answers = tuple(
        _result(wired, by_id.pop(call.id, None), vision)
        for call, wired in zip(message.tool_calls, calls, strict=True)
    )
    entries.append(ModelEntry(message, calls, answers, last_index))


def _wire_call(call: ToolCall, used: set[str]) -> ToolCall:
    call_id = wire_id(call.id)
    again = 2
    while call_id in used:
        call_id = wire_id(f"{call.id}#{again}")
        again += 1
    used.add(call_id)
    arguments = mend_value(call.arguments)
    if not isinstance(arguments, Mapping) or call.arguments_raw is not None:
        arguments = {}
    name = _wire_name(call.name)
    if (call_id, name) == (call.id, call.name) and arguments is call.arguments:
        return call
    return replace(call, id=call_id, name=name, arguments=dict(arguments))


def _wire_name(name: str) -> str:
    """Return a name that every protocol takes: letters, digits, `_` and `-`, at most 64."""
    if PLAIN_NAME.fullmatch(name):
        return name
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in name)
    return kept[:64] or "unknown"


def _result(call: ToolCall, message: Message | None, vision: bool) -> ResultEntry:
    if message is None:
        return ResultEntry(call, (ContentPart("text", NOT_RUN),), True)
    parts = _parts(message.content, vision) or (ContentPart("text", NO_OUTPUT),)
    return ResultEntry(call, parts, message.is_error)


def _parts(content: Content, vision: bool) -> tuple[ContentPart, ...]:
    if isinstance(content, str):
        return (ContentPart("text", mend(content)),) if content and not content.isspace() else ()
    kept: list[ContentPart] = []
    for part in content:
        if part.type == "image" and not vision:
            kept.append(ContentPart("text", f"[{part.media_type} left out: this model sees no images]"))
        elif part.type == "image" or part.text.strip():
            text = mend(part.text)
            kept.append(part if part.type == "image" or text is part.text else replace(part, text=text))
    return tuple(kept)


def _filler() -> UserEntry:
    return UserEntry((ContentPart("text", NOTHING_TO_SAY),), -1)


__all__ = [
    "NOTHING_TO_SAY",
    "NOT_RUN",
    "NO_OUTPUT",
    "Entry",
    "ModelEntry",
    "ResultEntry",
    "UserEntry",
    "arguments_text",
    "entries_of",
    "wire_id",
]
