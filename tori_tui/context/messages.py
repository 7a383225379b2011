"""The messages of a request, made from a view: every call answered, nothing empty, a user's word first.

Must not drop or change what was said, with one exception: a user's text that would fill the window.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.ids import CallId, ContextId
from tori_tui.domain.messages import ContentPart, Message, ToolCall
from tori_tui.domain.view import ViewEntry

USER_TEXT_SHARE: Final = 0.08
"""Of the window (16k of 200k tokens): a user's text above it stands as head, tail and path."""

SHOWN_SHARE: Final = 0.04
HEAD_SHARE: Final = 0.7
"""Of what is shown of a long text; the rest is its tail, where the request often stands."""

NOT_RUN: Final = "not run: the session went on without this call"
GO_ON: Final = "Go on."
NOTHING_SAID: Final = "(nothing was said)"


def request_messages(
    entries: Iterable[ViewEntry], context: ContextId, mission: str, window_tokens: int
) -> tuple[Message, ...]:
    """Return a view as a valid message list, which a later view only extends.

    After a message with calls come exactly its results, in the order of the calls; a call without a
    result gets one that says so; a result without its call is left out.
    """
    messages: list[Message] = []
    places: dict[CallId, int] = {}
    unanswered: dict[int, tuple[Message, ToolCall]] = {}
    for entry in entries:
        message = entry.message
        if message.role == "tool":
            place = places.pop(message.tool_call_id, None) if message.tool_call_id else None
            if place is not None:
                messages[place] = message
                del unanswered[place]
        elif message.role == "user":
            if not _is_empty(message):
                messages.append(_bounded(entry, window_tokens))
        elif not _is_empty(message):
            last = len(messages) - 1
            if last < 0 or (messages[last].role == "assistant" and last not in unanswered):
                messages.append(_prompt(context, GO_ON if messages else mission))
            messages.append(message)
            for call in message.tool_calls:
                place = places[call.id] = len(messages)
                unanswered[place] = message, call
                # Holds the place of the result, which is usually the next entry.
                messages.append(message)
    for place, (asking, call) in unanswered.items():
        messages[place] = _not_run(asking, call)
    if not messages or messages[-1].role == "assistant":
        messages.append(_prompt(context, GO_ON if messages else mission))
    return tuple(messages)


def _is_empty(message: Message) -> bool:
    """Whether providers would refuse it for having no content."""
    has_image = not isinstance(message.content, str) and any(p.type == "image" for p in message.content)
    return not (message.tool_calls or has_image or message.text.strip())


def _prompt(context: ContextId, text: str) -> Message:
    """Return what stands where the model is to speak and nobody has spoken to it."""
    return Message(context, None, "user", text.strip() or NOTHING_SAID, origin="runner")


def _not_run(asking: Message, call: ToolCall) -> Message:
    return Message(
        asking.context,
        asking.goal_id,
        "tool",
        NOT_RUN,
        origin="runner",
        tool_call_id=call.id,
        name=call.name,
        is_error=True,
    )


def _bounded(entry: ViewEntry, window_tokens: int) -> Message:
    """Return the entry's message; a user's text that is too long as head, tail and where the rest is."""
    message = entry.message
    text = message.text
    if not message.is_users_word or len(text) <= USER_TEXT_SHARE * window_tokens:
        return message
    tokens = estimate_tokens(text)
    if tokens <= USER_TEXT_SHARE * window_tokens:
        return message
    shown_chars = int(len(text) * SHOWN_SHARE * window_tokens / tokens)
    head, tail = (
        text[: int(shown_chars * HEAD_SHARE)],
        text[len(text) - int(shown_chars * (1 - HEAD_SHARE)) :],
    )
    whole = f'recall(query="outputs/{message.full}")' if message.full else f'recall(query="#{entry.seqs[0]}")'
    left_out = len(text) - len(head) - len(tail)
    cut = f"{head}\n[… {left_out} characters left out here; the whole text: {whole} …]\n{tail}"
    images = () if isinstance(message.content, str) else _images(message.content)
    return replace(message, content=(ContentPart("text", cut), *images) if images else cut)


def _images(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    return tuple(part for part in parts if part.type == "image")


__all__ = ["GO_ON", "NOT_RUN", "request_messages"]
