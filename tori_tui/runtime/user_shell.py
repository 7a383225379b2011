"""Commands that the user runs himself: as the tool runs one, written down, and told to the model.

Must not ask for permission, and must not let one outlive the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tori_tui.domain.commands import RunShell
from tori_tui.domain.events import MessageAdded, ToolRunStarted
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import SHELL, JsonObject, Message, ToolCall
from tori_tui.domain.plan_text import one_line
from tori_tui.runtime.recorder import Recorder

if TYPE_CHECKING:
    from tori_tui.runtime.scope import Scopes
    from tori_tui.tools.base import Tool

LIMIT_S: Final = 600
"""As long as the tool lets a command run."""

TITLE_LIMIT_CHARS: Final = 200


class UserShell:
    """Runs them, each beside the others and beside a run.

    Args:
        recorder: The session's.
        load: Returns the tool that runs commands and what opens its scopes.
        new_id: A new id for a command.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        recorder: Recorder,
        load: Callable[[], Awaitable[tuple[Tool, Scopes]]],
        new_id: Callable[[], CallId],
        clock: Callable[[], float],
    ) -> None:
        self._recorder = recorder
        self._load = load
        self._new_id = new_id
        self._clock = clock
        self._wanted: asyncio.Queue[RunShell] = asyncio.Queue()
        self._running: set[asyncio.Task[None]] = set()
        self._untold: list[Message] = []

    def want(self, command: RunShell) -> None:
        """Run a command soon."""
        self._wanted.put_nowait(command)

    def stop(self) -> None:
        """Stop those that run."""
        for task in self._running:
            task.cancel()

    async def serve(self) -> None:
        """Run what is wanted until the session closes, which stops all."""
        try:
            while True:
                task = asyncio.create_task(self._run(await self._wanted.get()))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
        finally:
            self.stop()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def tell(self) -> None:
        """Give the model what came of those that ended, at a point where a message may stand."""
        while self._untold:
            await self._recorder.record(MessageAdded(self._untold.pop(0)))

    async def _run(self, command: RunShell) -> None:
        call = ToolCall(self._new_id(), SHELL, {"command": command.text, "timeout_s": LIMIT_S})
        self._recorder.announce(ToolRunStarted(call.id, SHELL, one_line(command.text, TITLE_LIMIT_CHARS)))
        began_s = self._clock()
        tool, scopes = await self._load()
        try:
            output = await tool.run(call.arguments, scopes.open(call))
            told = _Told(output.text, output.details, is_error=output.is_error, full=output.full)
        except asyncio.CancelledError:
            told = _Told("[stopped by the user]", {}, is_error=True)
        self._untold.append(self._message(command, call, told, scopes.redact, self._clock() - began_s))
        if command.is_private or self._recorder.state.status not in ("running", "waiting"):
            await self.tell()

    def _message(
        self, command: RunShell, call: ToolCall, told: _Told, redact: Callable[[str], str], duration_s: float
    ) -> Message:
        state = self._recorder.state
        line, output = redact(command.text), redact(told.text)
        return Message(
            state.active_context,
            state.tree.current_id,
            "user",
            f"The user ran this himself, in the shell:\n$ {line}\n{output}",
            origin="runner",
            # Kept from the model: what was cut off stays outside the view.
            interrupted=command.is_private,
            is_error=told.is_error,
            duration_s=duration_s,
            full=told.full,
            details={**told.details, SHELL: call.id, "command": line, "output": output},
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """What came of a command."""

    text: str
    details: JsonObject
    is_error: bool
    full: str | None = None


__all__ = ["LIMIT_S", "UserShell"]
