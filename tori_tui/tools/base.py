"""What a tool is: parameters in, text for the model and typed details for the screen out.

Must not run anything itself; `runtime.calls` validates, asks and runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import FileIntent, MemoryChanged, ProcessRef
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ContentPart, JsonObject
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState

Effect = Literal["none", "read", "write", "execute", "remember"]
"""What a call may do. `none` touches only the session (goal, ask_user, abort, recall); `remember` no file,
but what later sessions will read."""


class ArgumentsInvalid(ToriError):
    """The arguments of a call do not fit its tool; the message is shown to the model."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What came of a call."""

    text: str
    """For the model. Not yet redacted; the executor does that once."""
    is_error: bool = False
    details: JsonObject = field(default_factory=dict)
    """For the screen and for later checks: plain JSON values only."""
    full: str | None = None
    """A file in `outputs/` with everything, where `text` is cut."""
    images: tuple[ContentPart, ...] = ()
    """For models that see; others are told that there are some."""
    edits: tuple[PlanEdit, ...] = ()
    """Edits of the plan that the tool asks for; the runner applies or refuses them."""
    memory: tuple[MemoryChanged, ...] = ()
    """What was remembered or is to be forgotten; the executor writes it down before the result."""
    abort_reason: str | None = None
    """Set by `abort`: the run ends as failed."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do, for its one-line title, for the permission policy and for the question."""

    title: str
    """One line, for example `edit_file app.py`."""
    detail: str = ""
    """The whole command, or the whole diff."""
    command: str | None = None
    """A shell command, for the policy to analyse."""
    paths: tuple[str, ...] = ()
    """Paths that are read or written, as the model wrote them."""
    not_free: str = ""
    """Why what only reads by its words, a command or a part of it, may do more on this disk."""


class CallScope(Protocol):
    """What one running call may use of the runner."""

    @property
    def call_id(self) -> CallId:
        """The call that runs."""
        ...

    @property
    def state(self) -> SessionState:
        """The session as it stands now, frozen."""
        ...

    async def started(
        self,
        *,
        process: ProcessRef | None = None,
        files: Sequence[FileIntent] = (),
        output: str | None = None,
    ) -> None:
        """Write down, synced to disk, that an effect is about to begin. Await it before the effect."""
        ...

    def progress(self, text: str) -> None:
        """Show more of the call's output while it runs."""
        ...

    async def ask_user(self, question: str, options: Sequence[str]) -> str | None:
        """Wait for the user's answer; None where nobody is there."""
        ...


class Tool(Protocol):
    """One tool of the model's. Constructed once with what it works on; holds no state of a call."""

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        ...

    @property
    def effect(self) -> Effect:
        """The most that a call of it may do."""
        ...

    @property
    def spec(self) -> ToolSpec:
        """What the model is told; byte-stable over a session."""
        ...

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say what the call would do, without doing it.

        Raises:
            ArgumentsInvalid: The arguments do not fit.
        """
        ...

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Do it. A failure is an output with `is_error` that says what to do next.

        Cancelling the task must leave no process behind and no half-written file.

        Raises:
            ArgumentsInvalid: The arguments do not fit.
        """
        ...


__all__ = ["ArgumentsInvalid", "CallScope", "Effect", "Preview", "Tool", "ToolOutput"]
