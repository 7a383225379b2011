"""Approvals and the model's questions, asked inline on the terminal.

Must not take a key that was typed before its question could be read.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Callable
from typing import Final

from tori_tui.cli import streams
from tori_tui.domain.commands import AnswerQuestion, Command, DecideApproval
from tori_tui.domain.events import ApprovalChanged, QuestionAsked
from tori_tui.render.safe_text import one_line, safe_text

CHOICES: Final = "y: yes, once   g: this goal   s: this session   a: always (saved)   n REASON: no  > "

NO_ANSWER: Final = "(no answer: decide, and note the assumption)"

_LINE_LIMIT_BYTES: Final = 65_536


class Questions:
    """Asks the user, one question at a time.

    Args:
        send: Takes the answer as a command.
    """

    def __init__(self, send: Callable[[Command], None]) -> None:
        self._send = send
        self._waiting: asyncio.Future[bytes] | None = None

    async def approval(self, asked: ApprovalChanged) -> None:
        """Ask for permission where the event is a question, and send the answer."""
        if asked.state != "asked":
            return
        show_approval(asked)
        while (line := await self._line(CHOICES)) is not None:
            decision = decide(asked, line)
            if decision is not None:
                self._send(decision)
                return

    async def question(self, asked: QuestionAsked) -> None:
        """Ask what the model or a limit asks, and send the answer."""
        streams.write_err(f"\n? {safe_text(asked.text)}\n")
        for number, option in enumerate(asked.options, 1):
            streams.write_err(f"  {number}. {one_line(option)}\n")
        line = await self._line("> ")
        if line is None:
            return
        text = line.strip()
        if text.isdecimal() and 1 <= int(text) <= len(asked.options):
            text = asked.options[int(text) - 1]
        self._send(AnswerQuestion(asked.question_id, text or NO_ANSWER))

    def withdraw(self) -> None:
        """Stop waiting for an answer: the question is gone."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.cancel()

    async def _line(self, prompt: str) -> str | None:
        """Return a line typed after the prompt was shown; None if the question was withdrawn."""
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno()
        # Before the prompt and not after it: what is typed once it stands there is an answer.
        _forget_typed(descriptor)
        streams.write_err(prompt)
        self._waiting = loop.create_future()
        loop.add_reader(descriptor, _read_into, descriptor, self._waiting)
        try:
            data = await self._waiting
        except asyncio.CancelledError:
            # Withdrawn, unless it is this task that is to end.
            if self._waiting.cancelled() and not _is_being_cancelled():
                return None
            raise
        finally:
            loop.remove_reader(descriptor)
        return data.decode("utf-8", "replace") if data else "\x04"


def show_approval(asked: ApprovalChanged) -> None:
    """Print what is asked: the whole command, or the whole diff."""
    from rich.console import Console

    from tori_tui.render.diff import diff_text, looks_like_diff

    console = Console(
        file=sys.stderr, highlight=False, markup=False, no_color=not streams.has_colour(sys.stderr)
    )
    streams.write_err("\n")
    console.print(f"Allow {one_line(asked.title)}?", style="bold", soft_wrap=True)
    if asked.reason:
        console.print(one_line(asked.reason), style="dim", soft_wrap=True)
    if looks_like_diff(asked.detail):
        console.print(diff_text(asked.detail), soft_wrap=True)
    elif asked.detail:
        console.print(safe_text(asked.detail), soft_wrap=True)
    for rule in asked.rules:
        console.print(f"g, s and a allow exactly: {one_line(rule, 2_000)}", style="dim", soft_wrap=True)


def decide(asked: ApprovalChanged, line: str) -> DecideApproval | None:
    """Return the decision that a line stands for; None if it stands for none."""
    word, _, reason = line.strip().partition(" ")
    match word.lower():
        case "y" | "yes":
            return DecideApproval(asked.approval_id, allow=True)
        case "g" | "goal":
            return DecideApproval(asked.approval_id, allow=True, scope="goal")
        case "s" | "session":
            return DecideApproval(asked.approval_id, allow=True, scope="session")
        case "a" | "always":
            return DecideApproval(asked.approval_id, allow=True, scope="always")
        case "n" | "no":
            return DecideApproval(
                asked.approval_id, allow=False, reason=reason.strip() or "denied by the user"
            )
        case "\x04":
            return DecideApproval(asked.approval_id, allow=False, reason="the input was closed")
        case _:
            return None


def _forget_typed(descriptor: int) -> None:
    try:
        termios.tcflush(descriptor, termios.TCIFLUSH)
    except termios.error:
        return


def _read_into(descriptor: int, waiting: asyncio.Future[bytes]) -> None:
    if waiting.done():
        return
    try:
        waiting.set_result(os.read(descriptor, _LINE_LIMIT_BYTES))
    except BlockingIOError:
        return
    except OSError:
        waiting.set_result(b"")


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


__all__ = ["Questions", "decide", "show_approval"]
