"""A call scope that writes down what a tool asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tori_tui.domain.events import FileIntent, ProcessRef
from tori_tui.domain.ids import CallId
from tori_tui.domain.state import SessionState

FIRST_CALL = CallId("call_1")


@dataclass
class FakeScope:
    call_id: CallId = FIRST_CALL
    state: SessionState = field(default_factory=SessionState)
    processes: list[ProcessRef] = field(default_factory=list)
    files: list[FileIntent] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    answer: str | None = None
    on_started: Callable[[], None] = lambda: None

    async def started(
        self,
        *,
        process: ProcessRef | None = None,
        files: Sequence[FileIntent] = (),
        output: str | None = None,
    ) -> None:
        if process is not None:
            self.processes.append(process)
        self.files += files
        if output is not None:
            self.outputs.append(output)
        self.on_started()

    def progress(self, text: str) -> None:
        self.shown.append(text)

    async def ask_user(self, question: str, options: Sequence[str]) -> str | None:
        self.asked.append((question, tuple(options)))
        return self.answer
