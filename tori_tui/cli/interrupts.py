"""Signals: the first stops the run and lets it tidy up, the second ends the program.

Must not stop anything by itself while the run can still do it cleanly.
"""

from __future__ import annotations

import asyncio
import signal
from types import TracebackType
from typing import Final, Self

from tori_tui.cli import streams
from tori_tui.cli.questions import Questions
from tori_tui.domain.commands import InterruptRun
from tori_tui.runtime.session import Session

_REASONS: Final = {
    signal.SIGINT: "interrupted by Ctrl+C",
    signal.SIGTERM: "terminated by a signal",
    signal.SIGHUP: "the terminal was closed",
}


class Interrupts:
    """Takes over the signals that mean stop, for the time of one run."""

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[int] | None) -> None:
        self._loop = loop
        self._task = task
        self._session: Session | None = None
        self._questions: Questions | None = None
        self._reason = ""

    def watch(self, session: Session, questions: Questions) -> None:
        """From now on the first signal interrupts this session's run."""
        self._session = session
        self._questions = questions

    def repeat(self) -> None:
        """Send the interrupt again: a run that had not begun yet did not take it."""
        if self._reason and self._session is not None:
            self._session.send(InterruptRun(self._reason))

    def __enter__(self) -> Self:
        for number in _REASONS:
            self._loop.add_signal_handler(number, self._received, number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in _REASONS:
            self._loop.remove_signal_handler(number)

    def _received(self, number: signal.Signals) -> None:
        if self._session is None or self._reason:
            # The third one ends the program whatever it is doing.
            for other in _REASONS:
                self._loop.remove_signal_handler(other)
            if self._task is not None:
                self._task.cancel()
            return
        self._reason = _REASONS[number]
        streams.write_err(f"\n{self._reason}; once more quits\n")
        self._session.send(InterruptRun(self._reason))
        if self._questions is not None:
            self._questions.withdraw()


__all__ = ["Interrupts"]
