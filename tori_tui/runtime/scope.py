"""What a running call may use of the runner: the `CallScope` of the tools.

Must not outlive its call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tori_tui.domain.events import CallStarted, FileIntent, ProcessRef, ToolOutputStreamed
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ToolCall
from tori_tui.domain.state import SessionState
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.recorder import Recorder


class RunningCall:
    """The scope of one call while it runs."""

    def __init__(
        self, call_id: CallId, name: str, recorder: Recorder, asking: Asking, redact: Callable[[str], str]
    ) -> None:
        self._call_id = call_id
        self._name = name
        self._recorder = recorder
        self._asking = asking
        self._redact = redact

    @property
    def call_id(self) -> CallId:
        """The call that runs."""
        return self._call_id

    @property
    def state(self) -> SessionState:
        """The session as it stands now, frozen."""
        return self._recorder.state

    async def started(
        self,
        *,
        process: ProcessRef | None = None,
        files: Sequence[FileIntent] = (),
        output: str | None = None,
    ) -> None:
        """Record that an effect is about to begin, and return when that is on the disk."""
        await self._recorder.record(CallStarted(self._call_id, self._name, process, tuple(files), output))
        await self._recorder.sync()

    def progress(self, text: str) -> None:
        """Show more of the call's output."""
        self._recorder.announce(ToolOutputStreamed(self._call_id, self._redact(text)))

    async def ask_user(self, question: str, options: Sequence[str]) -> str | None:
        """Wait for the user's answer; None where nobody is there."""
        return await self._asking.question(question, options)


class Scopes:
    """Opens a scope for each call.

    Attributes:
        checkpointing: Saves the work tree around the calls that may change it.
    """

    def __init__(
        self, recorder: Recorder, asking: Asking, redact: Callable[[str], str], checkpointing: Checkpointing
    ) -> None:
        self._recorder = recorder
        self._asking = asking
        self.redact = redact
        """Takes keys out of a text."""
        self.checkpointing = checkpointing

    def open(self, call: ToolCall) -> RunningCall:
        """Return the scope of one call."""
        return RunningCall(call.id, call.name, self._recorder, self._asking, self.redact)


__all__ = ["RunningCall", "Scopes"]
