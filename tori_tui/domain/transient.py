"""What is shown while it happens and never written: streams, retries, questions, notices.

Plain data in the past tense, like the durable events; what counts in the end stands in those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tori_tui.domain.ids import CallId, ContextId, QuestionId
from tori_tui.domain.value import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RequestStarted(Value):
    """A model request goes out."""

    kind: ClassVar[str] = "request_started"
    context: ContextId
    turn: int
    model: str
    context_tokens: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextStreamed(Value):
    """More of the answer arrived. The pieces of a reply make up the text of its message."""

    kind: ClassVar[str] = "text"
    context: ContextId
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThinkingStreamed(Value):
    """More of the model's thinking arrived."""

    kind: ClassVar[str] = "thinking"
    context: ContextId
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallStreamed(Value):
    """The model is writing a tool call; `arguments` is a further piece of its JSON."""

    kind: ClassVar[str] = "call"
    context: ContextId
    key: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReplyDiscarded(Value):
    """What was streamed since `RequestStarted` does not count (a retry or an interrupt follows)."""

    kind: ClassVar[str] = "reply_discarded"
    context: ContextId
    reason: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RetryScheduled(Value):
    """A request failed and will be sent again."""

    kind: ClassVar[str] = "retry"
    context: ContextId
    attempt: int
    """Of the try that failed; the first is 1."""
    of_attempts: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToolRunStarted(Value):
    """A call passed its approval and runs now."""

    kind: ClassVar[str] = "tool_started"
    call_id: CallId
    name: str
    title: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToolOutputStreamed(Value):
    """A running command printed more (redacted, decoded; possibly with parts left out)."""

    kind: ClassVar[str] = "tool_output"
    call_id: CallId
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QuestionAsked(Value):
    """The model or a limit asks the user; answered by the command `AnswerQuestion`."""

    kind: ClassVar[str] = "question"
    question_id: QuestionId
    text: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoticeShown(Value):
    """Something the user should know that changes nothing."""

    kind: ClassVar[str] = "notice"
    text: str
    level: Literal["info", "warning", "error"] = "info"


TransientEvent = (
    RequestStarted
    | TextStreamed
    | ThinkingStreamed
    | CallStreamed
    | ReplyDiscarded
    | RetryScheduled
    | ToolRunStarted
    | ToolOutputStreamed
    | QuestionAsked
    | NoticeShown
)

__all__ = [
    "CallStreamed",
    "NoticeShown",
    "QuestionAsked",
    "ReplyDiscarded",
    "RequestStarted",
    "RetryScheduled",
    "TextStreamed",
    "ThinkingStreamed",
    "ToolOutputStreamed",
    "ToolRunStarted",
    "TransientEvent",
]
