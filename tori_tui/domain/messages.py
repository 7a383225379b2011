"""Messages of a context: what the user, the model and the tools said.

Must not know how a provider writes them on the wire nor how a trace writes them on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tori_tui.domain.ids import CallId, CommentId, ContextId, GoalId, Seq
from tori_tui.domain.usage import Usage
from tori_tui.domain.value import Value, often_made

JsonObject = Mapping[str, object]
"""A JSON object as plain values. Treated as read-only by everybody."""

Role = Literal["user", "assistant", "tool"]

Origin = Literal["user", "comment", "runner", "fold", "model", "tool"]
"""Who wrote a message. Only `user` and `comment` are the user's own words, which are never cut."""


@often_made
class ContentPart(Value):
    """One part of a message's content; a plain string stands for a single text part."""

    type: Literal["text", "image"]
    text: str = ""
    media_type: str = ""
    data: str = ""
    """Base64 of an image's bytes."""


CORRECTION: Final = "correction"
"""Key in a message's details: it tells the model what was wrong with its reply, and leaves the view."""

TOLD_AGAIN: Final = "told_again"
"""Key in the details of a message that repeats an earlier one in another context."""

SHELL: Final = "user_shell"
"""Key in the details of a message that tells what a command of the user's own printed; names its call."""

COLORS: Final = "colors"
"""Key in the details of what a command printed: the parts of its text that the command coloured, each as
[start, end, "the numbers between ESC [ and m"]. Absent where there are none."""

Content = str | tuple[ContentPart, ...]


def content_of(text: str, images: tuple[ContentPart, ...] = ()) -> Content:
    """Return a text with what is shown behind it as a message's content."""
    return (ContentPart("text", text), *images) if images else text


@often_made
class ToolCall(Value):
    """One call that the model wrote."""

    id: CallId
    """Unique among the calls of the whole session; the adapter repairs ids that are not."""
    name: str
    arguments: JsonObject = field(default_factory=dict)
    arguments_raw: str | None = None
    """The model's own text where it is no JSON object; `arguments` is empty then."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProviderPart(Value):
    """Something a provider wants back verbatim: signed thinking, a reasoning item."""

    provider: str
    family: str
    """Model family that accepts it; it returns only to the same provider and family."""
    data: JsonObject
    call_id: CallId | None = None
    """The call it belongs to, where it returns with that call or not at all."""


@often_made
class Message(Value):
    """One entry of a context's message list."""

    context: ContextId
    goal_id: GoalId | None
    """The goal it belongs to; None is the mission's own segment."""
    role: Role
    content: Content
    origin: Origin = "model"
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    provider_parts: tuple[ProviderPart, ...] = ()
    thinking: str = ""
    """What the model thought aloud: shown, never sent as text."""
    comment_id: CommentId | None = None
    """The comment whose text this is; with this message the comment has taken effect."""
    interrupted: bool = False
    """Cut off by the user or a fault: shown and kept, but outside the view."""
    tool_call_id: CallId | None = None
    name: str | None = None
    """Of a tool message: the tool."""
    is_error: bool = False
    duration_s: float | None = None
    full: str | None = None
    """A file in `outputs/` that holds what `content` leaves out."""
    shown: str | None = None
    """Of a tool message: what the view shows in place of `content`, decided when it came in. Parts that
    the view showed already are left out there; None shows all."""
    shown_since: tuple[Seq, ...] = ()
    """The records in which the view shows what `shown` leaves out."""
    details: JsonObject = field(default_factory=dict)
    """Typed facts for the screen, most of them of a tool's: paths, hashes, exit code, diff."""

    @property
    def text(self) -> str:
        """The text parts, joined; images left out."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if part.type == "text")

    def with_content(self, content: Content) -> Message:
        """Return the message with another content, shown whole.

        By hand: a third of the time that `replace` takes, for each result of a long trace.
        """
        return Message(
            self.context,
            self.goal_id,
            self.role,
            content,
            self.origin,
            self.tool_calls,
            self.usage,
            self.provider_parts,
            self.thinking,
            self.comment_id,
            self.interrupted,
            self.tool_call_id,
            self.name,
            self.is_error,
            self.duration_s,
            self.full,
            None,
            self.shown_since,
            self.details,
        )

    @property
    def images(self) -> tuple[ContentPart, ...]:
        """The images of its content, in order."""
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if part.type == "image")

    @property
    def is_told_again(self) -> bool:
        """Whether it repeats the user's word to an agent that had not heard it; people have seen it."""
        return TOLD_AGAIN in self.details

    @property
    def is_users_word(self) -> bool:
        """Whether the user himself wrote it; such text is never cut or folded."""
        return self.origin in ("user", "comment")


__all__ = [
    "CORRECTION",
    "SHELL",
    "TOLD_AGAIN",
    "Content",
    "ContentPart",
    "JsonObject",
    "Message",
    "Origin",
    "ProviderPart",
    "Role",
    "ToolCall",
    "content_of",
]
