"""The one message that stands for an ended goal: its own summary and the facts that the system knows.

Must not judge or shorten facts by meaning; it lists what the records say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.domain.plan_text import STATUS_MARKS, goal_title, one_line

DESCRIPTION_LIMIT_CHARS: Final = 200
SUMMARY_LIMIT_CHARS: Final = 800
"""Models are asked for 60 to 100 tokens; twice as much is let through."""

COMMAND_LIMIT_CHARS: Final = 120
LISTED_PATHS: Final = 20
LISTED_COMMANDS: Final = 10
LISTED_GOALS: Final = 20

READERS: Final = frozenset({"read_file"})
RUNNERS: Final = frozenset({"bash"})


def fold_text(goal: Goal, messages: Iterable[Message]) -> str:
    """Return the text that stands for a goal and everything below it.

    Args:
        goal: The goal, ended.
        messages: Everything said in it and below it, in order.
    """
    facts = _facts(messages)
    lines = [
        f'<folded goal="{goal.id}" status="{goal.status}">',
        one_line(goal.description, DESCRIPTION_LIMIT_CHARS),
        *_summary(goal),
        *_sub_goals(goal.children),
        *_facts_lines(facts),
        *_evidence(goal),
    ]
    return "\n".join([lines[0], *(_inert(line) for line in lines[1:]), "</folded>"])


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


def _sub_goals(children: Sequence[Goal]) -> Iterator[str]:
    below = [goal for child in children for goal in child.walk()]
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


def _evidence(goal: Goal) -> Iterator[str]:
    for part in goal.walk():
        if part.evidence is not None:
            command = one_line(part.evidence.command, COMMAND_LIMIT_CHARS)
            yield f"Check of {part.id}: {command} (exit {part.evidence.exit_code})"


def _inert(line: str) -> str:
    """Text of others must not look like the end of the fold."""
    return line.replace("</folded", "< /folded").replace("<folded", "< folded")


__all__ = ["fold_text"]
