"""Reading a list of goals as a model or a user writes it: several in one text, checks in brackets.

Must not know a tree; `goal_call` gives the goals their ids and places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tori_tui.domain.plan_text import one_line
from tori_tui.domain.value import Value

SEPARATORS: Final = ",，"

BRACKETS: Final[Mapping[str, str]] = MappingProxyType(
    {"(": ")", "[": "]", "{": "}", "（": "）", "【": "】", "《": "》", "「": "」", "『": "』"}
)

QUOTES: Final[Mapping[str, str]] = MappingProxyType({'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"})

CHECK: Final = re.compile(r"^(?P<description>.*?)\[check:(?P<command>.*)\]\s*[.;。；]?\s*$", re.I | re.S)

LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
"""What stands before an entry of a list with one entry a line; the tree numbers goals itself."""

BRACKET_DEPTH: Final = 32
"""How many unclosed brackets back a closing one is matched; bounds the work on rubbish."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoalText(Value):
    """One goal as it was asked for."""

    description: str
    check: str | None = None


def read_goals(wanted: str | Sequence[str]) -> tuple[GoalText, ...]:
    r"""Return the goals that a text or a list of texts names; empty entries are left out.

    A text is split at its newlines if it has any, else at commas outside brackets and quotes;
    `\,` is a literal comma. A bracket or quote that is never closed is an ordinary character.
    A check on a line of its own belongs to the goal before it.
    """
    goals: list[GoalText] = []
    for entry in _entries(wanted):
        goal = _read_goal(entry)
        if goal.description:
            goals.append(goal)
        elif goals and goal.check and goals[-1].check is None:
            goals[-1] = GoalText(goals[-1].description, goal.check)
    return tuple(goals)


def _entries(wanted: str | Sequence[str]) -> list[str]:
    if not isinstance(wanted, str):
        return list(wanted)
    text = wanted.strip()
    if listed := _json_list(text):
        return listed
    lines = text.splitlines()
    return [LIST_MARK.sub("", line) for line in lines] if len(lines) > 1 else split_at_commas(text)


def _json_list(text: str) -> list[str]:
    """Some models write a list as its JSON text."""
    if not text.startswith("["):
        return []
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return []
    is_list = isinstance(listed, list) and all(isinstance(entry, str) for entry in listed)
    return listed if is_list else []


def _read_goal(entry: str) -> GoalText:
    found = CHECK.match(entry)
    description = found["description"] if found else entry
    for separator in SEPARATORS:
        description = description.replace(f"\\{separator}", separator)
    command = found["command"].strip() if found else ""
    return GoalText(one_line(description), command or None)


def split_at_commas(text: str) -> list[str]:
    """Return the parts between commas that stand outside brackets and quotes."""
    spans = _closed_spans(text)
    parts: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif at in spans:
            at = spans[at] + 1
        else:
            if text[at] in SEPARATORS:
                parts.append(text[start:at])
                start = at + 1
            at += 1
    return [*parts, text[start:]]


def _closed_spans(text: str) -> dict[int, int]:
    """Return where each closed bracket or quote begins and ends, in one pass."""
    spans: dict[int, int] = {}
    waiting: list[tuple[str, int]] = []
    never_closed: set[str] = set()
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char in QUOTES and char not in never_closed and _opens_quote(text, at):
            end = _quote_end(text, at)
            if end is None:
                never_closed.add(char)
            else:
                spans[at] = at = end
        elif char in BRACKETS:
            waiting.append((BRACKETS[char], at))
        elif waiting and any(char == closing for closing, _ in waiting[-BRACKET_DEPTH:]):
            while waiting[-1][0] != char:
                waiting.pop()
            spans[waiting.pop()[1]] = at
        at += 1
    return spans


def _opens_quote(text: str, at: int) -> bool:
    """Whether the quote is none of the kind that may be an apostrophe, or begins a word."""
    return text[at] != "'" or at == 0 or not text[at - 1].isalnum()


def _quote_end(text: str, at: int) -> int | None:
    closing = QUOTES[text[at]]
    end = text.find(closing, at + 1)
    while end != -1 and closing in "'’" and text[end + 1 : end + 2].isalnum():
        end = text.find(closing, end + 1)
    return None if end == -1 else end


__all__ = ["GoalText", "read_goals", "split_at_commas"]
