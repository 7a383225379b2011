"""What `tori run` says while it works: short lines on standard error, the answer on standard output.

Must not write anything but the answer to standard output.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Final, TextIO

from tori_tui.cli import streams
from tori_tui.cli.front import ShownSession
from tori_tui.domain.events import (
    ApprovalChanged,
    BranchChanged,
    DurableEvent,
    ErrorOccurred,
    MemoryChanged,
    MessageAdded,
    MessagesFolded,
    NoticeShown,
    PlanChanged,
    RetryScheduled,
    Rewound,
    RunStatusChanged,
    ToolRunStarted,
)
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalCompleted, GoalFocused, PlanEdit
from tori_tui.domain.rewind_words import rewind_told
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.safe_text import one_line, safe_text
from tori_tui.render.tool_call import result_line
from tori_tui.runtime.bus import BusItem, Published

LINE_LIMIT_CHARS: Final = 160

NOT_RUN: Final = "Not run: "
"""So begins the result of a call that was refused."""

_DIM, _BOLD, _RED, _GREEN, _YELLOW = "2", "1", "31", "32", "33"


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The marks of a line; plain ones where the terminal's charset has no others."""

    done: str = "✓"
    abandoned: str = "✗"
    focus: str = "→"
    call: str = "·"


ASCII_GLYPHS: Final = Glyphs("v", "x", ">", "-")


class Progress:
    """Prints the plan's changes, one line a call, retries and notices; at the end the answer.

    Args:
        stream: Where everything but the answer goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_colour = streams.has_colour(stream)
        self._glyphs = Glyphs() if streams.can_say(stream, "✓✗→·") else ASCII_GLYPHS
        self._answer: str | None = None
        self._new_focus = ""
        self._first_turn = 0
        self._session: ShownSession | None = None
        self._refused: Counter[str] = Counter()

    def begin(self, session: ShownSession, notices: tuple[str, ...]) -> None:
        """Say which model works, and the notices."""
        self._session = session
        self._first_turn = session.state.n_turns
        for text in notices:
            self._line(one_line(text), _YELLOW)

    def show(self, item: BusItem) -> None:
        """Print the line of one event, if it has one."""
        if not (isinstance(item, Published) and isinstance(item.record.event, PlanChanged)):
            # Several edits in a row move the focus several times; the last place is the one that counts.
            self._line(self._new_focus, _BOLD)
            self._new_focus = ""
        match item:
            case Published(record=record, state=state):
                self._show_durable(record.event, state)
            case ToolRunStarted(title=title):
                self._line(f"  {self._glyphs.call} {one_line(title, LINE_LIMIT_CHARS)}", _DIM)
            case RetryScheduled() as retry:
                text = f"try {retry.attempt} of {retry.of_attempts} failed, again in {retry.delay_s:.1f} s"
                self._line(f"  {text}: {one_line(retry.reason, LINE_LIMIT_CHARS)}", _YELLOW)
            case NoticeShown(text=text, level=level):
                self._line(one_line(text), _DIM if level == "info" else _YELLOW)

    def finish(self, state: SessionState, denied: tuple[ApprovalChanged, ...]) -> None:
        """Print the answer and how the run ended."""
        for told, n in self._refused.items():
            self._line(f"{n} times: {told}" if n > 1 else "", _YELLOW)
        for told, n in Counter(map(_what_was_denied, denied)).items():
            self._line(f"denied: {told}" + (f", {n} times" if n > 1 else ""), _YELLOW)
        if denied and state.status == "done":
            remedy = (
                "allow it by a rule under [permissions]" if state.mode_in_force == "auto" else "give --mode"
            )
            self._line(f"The run lacks what was denied: {remedy}, or run it on a terminal.", _YELLOW)
        self._line(self._summary(state), _GREEN if state.status == "done" else _RED)
        answer = self._answer if self._answer is not None else _last_answer(state)
        if answer:
            if self._stream.isatty() or self._stream is sys.stdout:
                streams.write(self._stream, "\n")
            streams.write_out(safe_text(answer).rstrip("\n") + "\n")

    def _show_durable(self, event: DurableEvent, state: SessionState) -> None:
        match event:
            case MessageAdded(message=message):
                self._show_message(message)
            case PlanChanged(edits=edits, refused=refused):
                for edit in edits:
                    self._show_edit(edit, state)
                if refused:
                    first, _, _ = refused.strip().partition("\n")
                    self._line(f"  not done: {one_line(first, LINE_LIMIT_CHARS)}", _YELLOW)
            case RunStatusChanged(status="running", model=model, mode=mode) if model:
                self._line(f"{one_line(model, LINE_LIMIT_CHARS)} {self._glyphs.call} mode {mode}", _DIM)
            case MessagesFolded(folds=folds):
                count = counted(sum(len(fold.seqs) for fold in folds), "message")
                self._line(f"  {count} folded", _DIM)
            case MemoryChanged(layer="project", action="set", key=fact_id, text=text):
                said = f"remembered: {one_line(text, LINE_LIMIT_CHARS)}"
                self._line(f"  {said}  (tori memory forget {one_line(fact_id)})")
            case BranchChanged(action="ended" | "adopted"):
                self._show_branch(event)
            case Rewound():
                self._line(f"  {one_line(rewind_told(event), LINE_LIMIT_CHARS)}")
            case ErrorOccurred(message=text, hint=hint):
                self._line(one_line(text, 1_000), _RED)
                if hint:
                    self._line(safe_text(hint), _DIM)

    def _show_branch(self, event: BranchChanged) -> None:
        # Here, because few runs have branches and every run starts with this module.
        from tori_tui.render.wording import branch_in_words

        self._line(f"  {self._glyphs.call} {branch_in_words(event)}", _DIM)

    def _show_message(self, message: Message) -> None:
        if message.role == "tool":
            # What a goal call did, and what it was refused, the plan's changes have told.
            if message.is_error and message.name != "goal":
                self._show_failure(result_line(message, LINE_LIMIT_CHARS))
            return
        # What was taken for the answer was not: something followed it.
        if self._answer:
            self._line(safe_text(self._answer).strip("\n"))
        self._answer = None
        if message.role != "assistant" or message.interrupted:
            return
        if not message.tool_calls:
            self._answer = message.text
        elif message.text.strip():
            self._line(safe_text(message.text).strip("\n"))

    def _show_failure(self, told: str) -> None:
        """Print why a call failed; what may not run is told once, and at the end how often."""
        if told.startswith(NOT_RUN):
            self._refused[told] += 1
        if self._refused[told] <= 1:
            self._line(f"    {told}", _YELLOW)

    def _show_edit(self, edit: PlanEdit, state: SessionState) -> None:
        marks = self._glyphs
        match edit:
            case GoalAdded(id=goal_id, description=text):
                self._line(f"+ {goal_id} {one_line(text, LINE_LIMIT_CHARS)}")
            case GoalCompleted(id=goal_id, summary=text):
                self._line(f"{marks.done} {goal_id} {one_line(text, LINE_LIMIT_CHARS)}", _GREEN)
            case GoalAbandoned(id=goal_id, reason=text):
                self._line(f"{marks.abandoned} {goal_id} {one_line(text, LINE_LIMIT_CHARS)}", _YELLOW)
            case GoalFocused(id=goal_id):
                goal = state.tree.find(goal_id) if goal_id else None
                is_open = goal is not None and goal.is_open
                text = one_line(goal.description, LINE_LIMIT_CHARS) if goal else ""
                self._new_focus = f"{marks.focus} {goal_id} {text}" if is_open else ""

    def _summary(self, state: SessionState) -> str:
        parts = [state.status + (f" ({one_line(state.reason, LINE_LIMIT_CHARS)})" if state.reason else "")]
        parts.append(counted(state.n_turns - self._first_turn, "turn"))
        if state.usage.total_tokens:
            parts.append(f"{shown_tokens(state.usage.total_tokens)} tokens")
        parts.append(shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns))
        if state.created_at and state.updated_at:
            parts.append(shown_duration((state.updated_at - state.created_at).total_seconds()))
        if self._session is not None:
            parts.append(f"trace {self._session.directory.name}")
        separator = " · " if self._glyphs.call == "·" else " - "
        return separator.join(part for part in parts if part)

    def _line(self, text: str, colour: str = "") -> None:
        if not text:
            return
        if colour and self._has_colour:
            text = f"\x1b[{colour}m{text}\x1b[0m"
        streams.write(self._stream, text + "\n")


def _what_was_denied(denial: ApprovalChanged) -> str:
    reason = f" ({one_line(denial.reason, LINE_LIMIT_CHARS)})" if denial.reason else ""
    return one_line(denial.title or denial.tool, LINE_LIMIT_CHARS) + reason


def _last_answer(state: SessionState) -> str:
    """Return what the session said last, where this run said nothing."""
    for entry in reversed(state.log):
        if entry.message.role == "assistant" and not entry.message.tool_calls:
            return entry.message.text
    return ""


__all__ = ["Progress"]
