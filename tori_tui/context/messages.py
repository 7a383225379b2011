"""The messages of a request, made from a view: every call answered, nothing empty, a user's word first.

Must not drop or change what was said, with one exception: a user's text that would fill the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.context.tokens import estimate_message, estimate_tokens
from tori_tui.domain.ids import CallId, ContextId, GoalId
from tori_tui.domain.log import Log
from tori_tui.domain.messages import ContentPart, Message, ToolCall
from tori_tui.domain.view import View, ViewEntry

USER_TEXT_SHARE: Final = 0.08
"""Of the window (16k of 200k tokens): a user's text above it stands as head, tail and path."""

SHOWN_SHARE: Final = 0.04
HEAD_SHARE: Final = 0.7
"""Of what is shown of a long text; the rest is its tail, where the request often stands."""

NOT_RUN: Final = "not run: the session went on without this call"
GO_ON: Final = "Go on."
NOTHING_SAID: Final = "(nothing was said)"


class ShownMessages:
    """The messages of one context's requests, read on as its view grows and anew after a rewrite.

    What it returns depends on the view alone; it is kept only so that a request takes no time for what
    the one before it held.

    Args:
        context: Whose messages they are.
        window_tokens: Of the model: a longer user's text is cut by it.
        count: Tokens of a message.
    """

    def __init__(
        self, context: ContextId, window_tokens: int, count: Callable[[Message], int] = estimate_message
    ) -> None:
        self._context = context
        self.window_tokens = window_tokens
        self._count = count
        self._restart(-1)

    def _restart(self, n_rewrites: int) -> None:
        self._n_rewrites = n_rewrites
        self._n_read = 0
        self._newest: ViewEntry | None = None
        self._messages: list[Message] = []
        self._places: dict[CallId, int] = {}
        self._unanswered: dict[int, tuple[Message, ToolCall]] = {}
        self._n_folded = self._n_rest = 0
        self._first_of: dict[GoalId | None, int] = {}
        self._last_words = -1

    def of(self, view: View, mission: str) -> Shown:
        """Return a view as a valid message list, which a later view only extends.

        After a message with calls come exactly its results, in the order of the calls; a call without
        a result gets one that says so; a result without its call is left out.
        """
        self._follow(view, mission)
        messages = self._messages.copy()
        for place, (asking, call) in self._unanswered.items():
            messages[place] = _not_run(asking, call)
        if not messages or messages[-1].role == "assistant":
            messages.append(_prompt(self._context, GO_ON if messages else mission))
        extra = [*(messages[place] for place in self._unanswered), *messages[len(self._messages) :]]
        n_rest = self._n_rest + sum(self._count(message) for message in extra)
        return Shown(tuple(messages), self._n_folded, n_rest, self._last_words, self._first_of)

    def _follow(self, view: View, mission: str) -> None:
        entries = view.entries
        n_read = self._n_read
        is_same = len(entries) >= n_read and (n_read == 0 or entries[n_read - 1] is self._newest)
        if view.n_rewrites != self._n_rewrites or not is_same:
            self._restart(view.n_rewrites)
        for at in range(self._n_read, len(entries)):
            self._read(entries[at], mission)
        self._n_read = len(entries)
        self._newest = entries[-1] if len(entries) else None

    def _read(self, entry: ViewEntry, mission: str) -> None:
        message = entry.message
        if message.role == "tool":
            place = self._places.pop(message.tool_call_id, None) if message.tool_call_id else None
            if place is not None:
                self._messages[place] = message
                del self._unanswered[place]
                self._n_rest += self._count(message)
        elif _is_empty(message):
            return
        elif message.role == "user":
            self._add(_bounded(entry, self.window_tokens))
        else:
            last = len(self._messages) - 1
            if last < 0 or (self._messages[last].role == "assistant" and last not in self._unanswered):
                self._add(_prompt(self._context, GO_ON if self._messages else mission))
            self._first_of.setdefault(message.goal_id, len(self._messages))
            self._add(message)
            for call in message.tool_calls:
                place = self._places[call.id] = len(self._messages)
                self._unanswered[place] = message, call
                # Holds the place of the result, which is usually the next entry.
                self._messages.append(message)

    def _add(self, message: Message) -> None:
        if message.is_users_word:
            self._last_words = len(self._messages)
        self._messages.append(message)
        if message.origin == "fold":
            self._n_folded += self._count(message)
        else:
            self._n_rest += self._count(message)


@dataclass(frozen=True, slots=True)
class Shown:
    """The messages of one request and what is known of them."""

    messages: tuple[Message, ...]
    n_folded_tokens: int
    n_other_tokens: int
    last_words: int
    """Where the user spoke last; -1 if he did not."""
    first_of: Mapping[GoalId | None, int]
    """Where each goal's first reply stands."""


def request_messages(
    entries: Iterable[ViewEntry], context: ContextId, mission: str, window_tokens: int
) -> tuple[Message, ...]:
    """Return a view's entries as a valid message list."""
    return ShownMessages(context, window_tokens).of(View(Log(entries)), mission).messages


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


__all__ = ["GO_ON", "NOT_RUN", "Shown", "ShownMessages", "request_messages"]
