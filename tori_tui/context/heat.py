"""How likely each message is to be drawn on again: by its kind, and by what later actions used of it.

Must not hold anything that the log does not give; it only reads ahead as the log grows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tori_tui.context.words import LinesOf, names, paths, said_text
from tori_tui.domain.ids import CallId, Seq
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.state import LoggedMessage

Kind = Literal["edit", "test", "look", "plan", "text"]

WEIGHTS: Final[dict[Kind, float]] = {"edit": 1.1, "test": 0.3, "look": 0.9, "plan": 0.2, "text": 1.3}
"""What a kind of step is worth when its text must be chosen; measured on recorded sessions."""

UNUSED: Final = (4.0, 60.0, 0.2)
"""Heat of a message that nothing has drawn on yet: start, calls until it falls to 1/e, rest."""

USED: Final = (1.6, 45.0, 0.1)

EDITORS: Final = frozenset({"edit_file", "write_file"})
PLANNERS: Final = frozenset({"goal", "abort", "ask_user"})
COMMANDS: Final = frozenset({"bash"})

PATH_ARGUMENT_CHARS: Final = 300
"""A call names its files early: in its first arguments, not in the text that it writes."""

_TESTING: Final = re.compile(
    r"\b(?:py\.?test|unittest|tox|nox|jest|vitest|mocha|phpunit|rspec|ctest|make|cmake|ninja|cargo|mvn"
    r"|gradle\w*|dotnet|tsc|eslint|ruff|mypy|docker|curl)\b"
    r"|\b(?:npm|pnpm|yarn|npx|go|bundle|composer|pip3?|node|python3?) "
)
_WRITING: Final = re.compile(r"\b(?:sed -i|tee|patch|git apply)\b|cat\s*>|<<")


@dataclass(frozen=True, slots=True)
class _Source:
    call: int
    """How many replies the model had given before."""
    kind: Kind
    is_result: bool
    files: frozenset[str]


class Heat:
    """The heat of every message of a session, kept up to date with its log."""

    def __init__(self, lines_of: LinesOf) -> None:
        self._lines_of = lines_of
        self._restart()

    def _restart(self) -> None:
        self._n_read = 0
        self._n_calls = 0
        self._sources: dict[Seq, _Source] = {}
        self._newest: dict[str | int, Seq] = {}
        self._drawn: dict[Seq, int] = {}
        self._named: dict[str, int] = {}
        self._calls: dict[CallId, ToolCall] = {}

    def follow(self, log: Sequence[LoggedMessage]) -> None:
        """Read what the log gained."""
        if len(log) < self._n_read:
            self._restart()
        for at in range(self._n_read, len(log)):
            entry = log[at]
            self._read(entry.seq, entry.message)
        self._n_read = len(log)

    def of(self, seq: Seq) -> float:
        """Return weight times heat of a record; 0 for one that is no message."""
        source = self._sources.get(seq)
        if source is None:
            return 0.0
        drawn = self._drawn.get(seq)
        last = max(
            source.call, -1 if drawn is None else drawn, *(self._named.get(f, -1) for f in source.files)
        )
        start, life_calls, rest = UNUSED if drawn is None else USED
        return WEIGHTS[source.kind] * (start * math.exp((last - self._n_calls) / life_calls) + rest)

    def is_look(self, seq: Seq) -> bool:
        """Whether a record is a result that shows what is there, not what was tried."""
        source = self._sources.get(seq)
        return source is not None and source.is_result and source.kind == "look"

    def _read(self, seq: Seq, message: Message) -> None:
        text = said_text(message)
        lines = self._lines_of(seq, message).keys
        found = names(text)
        if message.role == "assistant" and not message.interrupted:
            self._draw(message, found, lines)
        self._sources[seq] = self._source(message)
        self._newest.update(dict.fromkeys(found, seq))
        self._newest.update(dict.fromkeys(lines, seq))

    def _draw(self, message: Message, found: frozenset[str], lines: Sequence[int]) -> None:
        """Take in an action: what it names and repeats, it has drawn from where that stood last."""
        pieces: list[str | int] = [*found, *lines]
        for piece in pieces:
            source = self._newest.get(piece)
            if source is not None:
                self._drawn[source] = self._n_calls
        for call in message.tool_calls:
            self._calls[call.id] = call
            for name in _files(call):
                self._named[name] = self._n_calls
        self._n_calls += 1

    def _source(self, message: Message) -> _Source:
        call = self._calls.pop(message.tool_call_id, None) if message.tool_call_id else None
        calls = (call,) if call else message.tool_calls
        files = frozenset(name for asked in calls for name in _files(asked))
        return _Source(max(0, self._n_calls - 1), _kind(calls), message.role == "tool", files)


def _files(call: ToolCall) -> frozenset[str]:
    return paths(said_text_of(call)[:PATH_ARGUMENT_CHARS])


def said_text_of(call: ToolCall) -> str:
    """Return a call's arguments as text."""
    return call.arguments_raw or "\n".join(str(value) for value in call.arguments.values())


def _kind(calls: Sequence[ToolCall]) -> Kind:
    """Return the kind of a step by its calls; of several, the one that weighs most for later."""
    kinds = {_kind_of(call) for call in calls}
    order: tuple[Kind, ...] = ("edit", "test", "look", "plan")
    return next((kind for kind in order if kind in kinds), "text")


def _kind_of(call: ToolCall) -> Kind:
    if call.name in EDITORS:
        return "edit"
    if call.name in PLANNERS:
        return "plan"
    if call.name in COMMANDS:
        command = said_text_of(call)
        if _WRITING.search(command):
            return "edit"
        return "test" if _TESTING.search(command) else "look"
    return "look"


__all__ = ["Heat"]
