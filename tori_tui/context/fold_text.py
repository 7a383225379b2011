"""The one message that stands for an ended goal: its own summary and the facts that the system knows.

Must not judge or shorten facts by meaning; it lists what the records say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tori_tui.domain.goals import Goal, Mission
from tori_tui.domain.ids import GoalId
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.domain.plan_text import STATUS_MARKS, goal_title, one_line

DESCRIPTION_LIMIT_CHARS: Final = 200
SUMMARY_LIMIT_CHARS: Final = 800
"""Models are asked for 60 to 100 tokens; twice as much is let through."""

OVERVIEW_LIMIT_CHARS: Final = 120
COMMAND_LIMIT_CHARS: Final = 120
LISTED_PATHS: Final = 20
LISTED_COMMANDS: Final = 10
LISTED_GOALS: Final = 20

READERS: Final = frozenset({"read_file"})
RUNNERS: Final = frozenset({"bash"})


@dataclass(frozen=True, slots=True)
class PinnedLines:
    """Lines of a record that stand in a fold word for word."""

    title: str
    """`#12 read_file app.py`."""
    parts: tuple[str, ...]
    """Runs of lines; what was between them is left out."""


def fold_text(
    goal: Goal,
    messages: Iterable[Message],
    pinned: Sequence[PinnedLines] = (),
    *,
    elsewhere: frozenset[GoalId] = frozenset(),
) -> str:
    """Return the text that stands for a goal and everything below it.

    Args:
        goal: The goal, ended; or an open one whose early turns are folded.
        messages: What the fold replaces, in order.
        pinned: What stays word for word.
        elsewhere: Goals below it that the view shows in another place.
    """
    below = [part for child in goal.children for part in child.walk() if part.id not in elsewhere]
    lines = [
        one_line(goal.description, DESCRIPTION_LIMIT_CHARS),
        *_summary(goal),
        *_sub_goals(below),
        *_facts_lines(_facts(messages)),
        *_evidence(goal, elsewhere),
    ]
    return _enclosed(f'goal="{goal.id}" status="{goal.status}"', lines, pinned)


def mission_fold_text(
    mission: Mission | None, messages: Iterable[Message], pinned: Sequence[PinnedLines] = ()
) -> str:
    """Return the text that stands for what was done in a mission outside its goals."""
    told = [one_line(mission.text, DESCRIPTION_LIMIT_CHARS)] if mission else []
    name = mission.id if mission else ""
    return _enclosed(f'mission="{name}"', [*told, *_facts_lines(_facts(messages))], pinned)


def overview_text(rows: Sequence[str], n_left_out: int, pinned: Sequence[PinnedLines] = ()) -> str:
    """Return the text that stands for the oldest goals together, a line each."""
    counted = [f"({n_left_out} earlier ones; recall by id)"] if n_left_out else []
    return _enclosed('goals="earliest"', [*counted, *rows], pinned)


def summary_fold_text(summary: str) -> str:
    """Return the text that stands for everything earlier, summarised by a model."""
    return _enclosed('goals="earlier"', ["Summary of the work so far:", summary], ())


def overview_row(goal: Goal) -> str:
    """Return a goal as one line of an overview."""
    result = f" → {one_line(goal.summary, OVERVIEW_LIMIT_CHARS)}" if goal.summary else ""
    return f"{STATUS_MARKS[goal.status]} {goal_title(goal, OVERVIEW_LIMIT_CHARS)}{result}"


def _enclosed(attributes: str, lines: Sequence[str], pinned: Sequence[PinnedLines]) -> str:
    pins = [row for pin in pinned for row in (pin.title, "\n…\n".join(pin.parts))]
    body = [_inert(line) for line in (*lines, *(["Word for word:"] if pins else []), *pins)]
    return "\n".join([f"<folded {attributes}>", *body, "</folded>"])


@dataclass(slots=True)
class _Facts:
    read: dict[str, int] = field(default_factory=dict)
    """Path to number of reads."""
    changed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Path to lines added and removed."""
    ran: list[str] = field(default_factory=list)


def _facts(messages: Iterable[Message]) -> _Facts:
    facts = _Facts()
    calls: dict[str, ToolCall] = {}
    for message in messages:
        for call in message.tool_calls:
            calls[call.id] = call
        if message.role != "tool":
            continue
        asked = calls.get(message.tool_call_id or "")
        arguments: JsonObject = asked.arguments if asked else {}
        details = message.details
        if message.name in READERS and not message.is_error and (path := _text(details, arguments, "path")):
            facts.read[path] = facts.read.get(path, 0) + 1
        for path in _texts(details.get("changed_paths")):
            added, removed = facts.changed.get(path, (0, 0))
            facts.changed[path] = (
                added + _number(details, "added"),
                removed + _number(details, "removed"),
            )
        if message.name in RUNNERS and (command := _text(arguments, details, "command")):
            facts.ran.append(f"{one_line(command, COMMAND_LIMIT_CHARS)} ({_exit(details, message)})")
    return facts


def _exit(details: JsonObject, message: Message) -> str:
    exit_code = details.get("exit_code")
    if isinstance(exit_code, int):
        return f"exit {exit_code}"
    return "failed" if message.is_error else "ran"


def _text(first: JsonObject, second: JsonObject, key: str) -> str:
    for source in (first, second):
        value = source.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(part) for part in value) if isinstance(value, (list, tuple)) else ()


def _number(details: JsonObject, key: str) -> int:
    value = details.get(key)
    return value if isinstance(value, int) else 0


def _summary(goal: Goal) -> Iterator[str]:
    if goal.summary:
        label = "Given up: " if goal.status == "abandoned" else "→ "
        yield label + one_line(goal.summary, SUMMARY_LIMIT_CHARS)
    if goal.superseded_by:
        yield f"Replaced by {goal.superseded_by}."


def _sub_goals(below: Sequence[Goal]) -> Iterator[str]:
    for goal in below[:LISTED_GOALS]:
        summary = f" → {one_line(goal.summary, SUMMARY_LIMIT_CHARS)}" if goal.summary else ""
        yield f"{STATUS_MARKS[goal.status]} {goal_title(goal, DESCRIPTION_LIMIT_CHARS)}{summary}"
    if len(below) > LISTED_GOALS:
        yield f"and {len(below) - LISTED_GOALS} more sub-goals"


def _facts_lines(facts: _Facts) -> Iterator[str]:
    only_read = {path: n for path, n in facts.read.items() if path not in facts.changed}
    if only_read:
        yield f"Read: {_first(_counted_reads(only_read), LISTED_PATHS)}"
    if facts.changed:
        yield f"Changed: {_first(_counted_changes(facts.changed), LISTED_PATHS)}"
    if facts.ran:
        # The newest commands tell how it ended.
        left_out = len(facts.ran) - LISTED_COMMANDS
        earlier = f"{left_out} more, then " if left_out > 0 else ""
        yield f"Ran: {earlier}{'; '.join(facts.ran[-LISTED_COMMANDS:])}"


def _counted_reads(read: Mapping[str, int]) -> list[str]:
    return [one_line(path) if n == 1 else f"{one_line(path)} ({n}×)" for path, n in read.items()]


def _counted_changes(changed: Mapping[str, tuple[int, int]]) -> list[str]:
    return [
        f"{one_line(path)} (+{added} −{removed})" if added or removed else one_line(path)
        for path, (added, removed) in changed.items()
    ]


def _first(items: Sequence[str], limit: int) -> str:
    left_out = len(items) - limit
    return ", ".join(items[:limit]) + (f" and {left_out} more" if left_out > 0 else "")


def _evidence(goal: Goal, elsewhere: frozenset[GoalId]) -> Iterator[str]:
    for part in goal.walk():
        if part.evidence is not None and part.id not in elsewhere:
            command = one_line(part.evidence.command, COMMAND_LIMIT_CHARS)
            yield f"Check of {part.id}: {command} (exit {part.evidence.exit_code})"


def _inert(line: str) -> str:
    """Text of others must not look like the end of the fold."""
    return line.replace("</folded", "< /folded").replace("<folded", "< folded")


__all__ = [
    "PinnedLines",
    "fold_text",
    "mission_fold_text",
    "overview_row",
    "overview_text",
    "summary_fold_text",
]
