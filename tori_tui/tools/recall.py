"""The tool `recall`: what left the view comes back, from the session's log and its kept outputs.

Must not change the view; what is recalled is an ordinary result.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import msgspec

from tori_tui.domain.errors import ToriError
from tori_tui.domain.goal_call import GoalRefused, parse_goal_id
from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import JsonObject, Message
from tori_tui.domain.plan_text import goal_heading, one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import LoggedMessage, SessionState
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.parameters import parse, schema_of, text_of

NAME: Final = "recall"

LIMIT_TOKENS: Final = 4_000
CHARS_PER_TOKEN: Final = 3
"""Low for Latin text, so that code stays within the limit too; see `_room_of` for other scripts."""

RECORD_LIMIT_CHARS: Final = 1_800
"""Of one record among several: about 600 tokens."""

ARGUMENTS_LIMIT_CHARS: Final = 400
CONTEXT_LINES: Final = 2
"""Around a line that has the words."""

TITLE_LIMIT_CHARS: Final = 100

OUTPUT_QUERY: Final = re.compile(
    r"^outputs/(?P<name>[^\s/:]+)(?::(?P<line>\d+))?(?:\s+(?P<words>.+))?$", re.S
)
RECORD_QUERY: Final = re.compile(r"^#(?P<seq>\d+)(?::(?P<line>\d+))?$")
LINE_LIMIT_CHARS: Final = 2_000
"""Longer lines count as several, so that any text can be paged through."""


class KeptOutputs(Protocol):
    """Reads the texts that were kept beside the trace."""

    def read_text(self, name: str, limit_bytes: int | None = None) -> str:
        """Return a text by its file's name.

        Raises:
            ToriError: There is none.
        """
        ...


class _Parameters(msgspec.Struct, frozen=True):
    goal: str | None = None
    query: str | None = None


class RecallTool:
    """Finds records of the session.

    Args:
        outputs: Where full outputs are kept.
        limit_tokens: The most that a result takes, about.
    """

    name: Final = NAME
    effect: Final[Effect] = "none"

    def __init__(self, outputs: KeptOutputs, limit_tokens: int = LIMIT_TOKENS) -> None:
        self._outputs = outputs
        self._limit_chars = limit_tokens * CHARS_PER_TOKEN

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say what is looked for."""
        asked = parse(_Parameters, arguments, NAME)
        said = " ".join(part for part in (asked.goal, asked.query) if part)
        return Preview(one_line(f"{NAME} {said}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return what was found, newest first, each with its record number."""
        asked = parse(_Parameters, arguments, NAME)
        goal_id, query = (asked.goal or "").strip(), (asked.query or "").strip()
        if not (goal_id or query):
            return ToolOutput("Give a goal id or a query.", is_error=True)
        try:
            # A long session's log has tens of megabytes: the event loop must not wait for the search.
            return await asyncio.to_thread(self._recalled, scope.state, goal_id, query)
        except ToriError as error:
            return ToolOutput(str(error), is_error=True)

    def _recalled(self, state: SessionState, goal_id: str, query: str) -> ToolOutput:
        if found := OUTPUT_QUERY.match(query):
            return self._output(found["name"], int(found["line"] or 1), found["words"] or "")
        if found := RECORD_QUERY.match(query):
            return self._record(state, int(found["seq"]), int(found["line"] or 1))
        goal = _goal(state, goal_id) if goal_id else None
        entries = _entries(state, goal)
        words = query.casefold().split()
        hits = ((entry, text) for entry in entries if (text := _hit(entry.message, words)))
        return self._listed(goal, hits, query)

    def _listed(self, goal: Goal | None, hits: Iterator[tuple[LoggedMessage, str]], query: str) -> ToolOutput:
        head = [f"{goal_heading(goal)}\n    → {one_line(goal.summary or 'no summary')}"] if goal else []
        shown: list[str] = []
        n_left_out = 0
        room = self._limit_chars
        for entry, text in hits:
            part = f"{_label(entry)}\n{_cut(text, RECORD_LIMIT_CHARS)}"
            room -= _room_of(part)
            if room < 0 and shown:
                n_left_out += 1
            else:
                shown.append(part)
        if not shown:
            sought = f"with {query!r}" if query else "of this goal"
            return ToolOutput("\n".join([*head, f"No record {sought}. Try fewer or other words."]))
        tail = [f"({n_left_out} older records left out; narrow it with words in query)"] if n_left_out else []
        return ToolOutput("\n\n".join([*head, *shown, *tail]), details={"n_records": len(shown)})

    def _record(self, state: SessionState, seq: int, first_line: int) -> ToolOutput:
        entry = next((entry for entry in state.log if entry.seq == seq), None)
        if entry is None:
            return ToolOutput(f"Record #{seq} is no message. Search with words instead.", is_error=True)
        head = f"{_label(entry)}\n" if first_line == 1 else ""
        return ToolOutput(head + self._page(_lines_of(_whole(entry.message)), first_line, f"#{seq}"))

    def _output(self, name: str, first_line: int, words: str) -> ToolOutput:
        lines = _lines_of(self._outputs.read_text(name))
        if not words:
            return ToolOutput(self._page(lines, first_line, f"outputs/{name}"))
        text = _around(lines, words.casefold().split())
        if not text:
            return ToolOutput(f"No line of outputs/{name} has {words!r}. Try fewer or other words.")
        return ToolOutput(_cut(text, self._limit_chars))

    def _page(self, lines: Sequence[str], first_line: int, query: str) -> str:
        """Return the lines from one on, as many as there is room for, and where they go on."""
        taken: list[str] = []
        room = self._limit_chars
        for line in lines[max(0, first_line - 1) :]:
            room -= _room_of(line) + 1
            if room < 0:
                break
            taken.append(line)
        if not taken:
            return f"{query} has {len(lines)} lines."
        last_line = max(1, first_line) - 1 + len(taken)
        left = len(lines) - last_line
        more = f'\n({left} more lines: recall(query="{query}:{last_line + 1}"))' if left > 0 else ""
        return "\n".join(taken) + more


def _goal(state: SessionState, goal_id: str) -> Goal:
    goal = state.tree.find(parse_goal_id(goal_id))
    if goal is None:
        known = ", ".join(goal.id for goal in state.tree.goals[-20:]) or "none"
        raise GoalRefused(f"There is no goal {goal_id}.", f"Root goals: {known}.")
    return goal


def _entries(state: SessionState, goal: Goal | None) -> Iterator[LoggedMessage]:
    """Yield the messages to look at, newest first; what recall itself showed is no find."""
    owned = {part.id for part in goal.walk()} if goal else None
    for index in range(len(state.log) - 1, -1, -1):
        entry = state.log[index]
        if entry.message.name != NAME and (owned is None or entry.message.goal_id in owned):
            yield entry


def _lines_of(text: str) -> list[str]:
    return [
        line[at : at + LINE_LIMIT_CHARS]
        for line in text.splitlines()
        for at in range(0, max(1, len(line)), LINE_LIMIT_CHARS)
    ]


def _hit(message: Message, words: Sequence[str]) -> str:
    """Return what to show of a message that has all the words; empty where it has not."""
    whole = _whole(message)
    if not words:
        return whole.strip()
    folded = whole.casefold()
    if not all(word in folded for word in words):
        return ""
    return whole if len(whole) <= RECORD_LIMIT_CHARS else _around(_lines_of(whole), words)


def _around(lines: Sequence[str], words: Sequence[str]) -> str:
    """Return the lines that have all the words, else any, numbered, with a few around each."""
    folded = [line.casefold() for line in lines]
    hits = [i for i, line in enumerate(folded) if all(word in line for word in words)]
    hits = hits or [i for i, line in enumerate(folded) if any(word in line for word in words)]
    near = sorted(
        {j for i in hits for j in range(i - CONTEXT_LINES, i + CONTEXT_LINES + 1) if 0 <= j < len(lines)}
    )
    shown: list[str] = []
    for at, index in enumerate(near):
        if at and near[at - 1] != index - 1:
            shown.append("…")
        shown.append(f"{index + 1}: {lines[index]}")
    return "\n".join(shown)


def _whole(message: Message) -> str:
    parts = [message.text]
    for call in message.tool_calls:
        if call.name == NAME:
            continue
        arguments = call.arguments_raw or json.dumps(call.arguments, ensure_ascii=False, default=str)
        parts.append(f"{call.name}({_cut(arguments, ARGUMENTS_LIMIT_CHARS)})")
    if message.full:
        parts.append(f"(whole: outputs/{message.full})")
    return "\n".join(part for part in parts if part)


def _label(entry: LoggedMessage) -> str:
    message = entry.message
    who = f"{message.role} {message.name}" if message.name else message.origin
    where = f" goal {message.goal_id}" if message.goal_id else ""
    return f"#{entry.seq} {who}{where}{' (error)' if message.is_error else ''}:"


def _cut(text: str, limit_chars: int) -> str:
    room = limit_chars
    if _room_of(text) <= room:
        return text
    # Cut by what is left of the room per character, so that dense scripts are cut earlier.
    keep = int(len(text) * room / _room_of(text))
    head = text[: keep * 2 // 3]
    tail = text[len(text) - keep // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"


def _room_of(text: str) -> int:
    """Return the characters of Latin text that take as many tokens; Chinese takes about three times more."""
    return len(text) if text.isascii() else max(len(text), len(text.encode("utf-8", "replace")) * 4 // 5)


__all__ = ["KeptOutputs", "RecallTool"]
