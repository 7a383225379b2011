"""Which goals a filter leaves: by words of their titles, and by their state.

Pure. Must not know how goals are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import GoalId

SIGN: Final = "is:"

TITLE_CHARS: Final = 300
"""Of a title are looked through: as many as the tree shows."""


def _is_red(goal: Goal) -> bool:
    return goal.evidence is not None and goal.evidence.exit_code != 0


STATES: Final[Mapping[str, Callable[[Goal], bool]]] = MappingProxyType(
    {
        "open": lambda goal: goal.is_open,
        "pending": lambda goal: goal.status == "pending",
        "working": lambda goal: goal.status == "in_progress",
        "done": lambda goal: goal.status == "completed",
        "failed": lambda goal: goal.status == "abandoned" or _is_red(goal),
        "red": _is_red,
        "checked": lambda goal: goal.check is not None,
        "pinned": lambda goal: goal.pinned,
    }
)
"""What may stand behind `is:`; the beginning of a word does."""


@dataclass(frozen=True, slots=True)
class GoalFilter:
    """What was typed, taken apart."""

    words: tuple[str, ...] = ()
    """All of them must be in a goal's id or title."""
    states: tuple[str, ...] = ()
    """One of them must hold."""
    unknown: tuple[str, ...] = ()
    """What stood behind `is:` and is no state."""


def read_filter(text: str) -> GoalFilter:
    """Return what a line asks for.

    Example:
        >>> read_filter("Login is:o")
        GoalFilter(words=('login',), states=('open',), unknown=())
    """
    parts = text.casefold().split()
    asked = [part.removeprefix(SIGN) for part in parts if part.startswith(SIGN)]
    meant = [[state for state in STATES if state.startswith(word)] for word in asked]
    return GoalFilter(
        tuple(part for part in parts if not part.startswith(SIGN)),
        tuple(state for states in meant for state in states),
        tuple(word for word, states in zip(asked, meant, strict=True) if not states),
    )


def hits(goals: Iterable[Goal], wanted: GoalFilter) -> frozenset[GoalId]:
    """Return the goals that fit; where none has the words, those that have their letters in order."""
    if wanted.unknown:
        return frozenset()
    in_state = [goal for goal in goals if not wanted.states or _is_any(goal, wanted.states)]
    with_words = [goal for goal in in_state if all(word in _text(goal) for word in wanted.words)]
    found = with_words or [goal for goal in in_state if _has_letters(_text(goal), wanted.words)]
    return frozenset(goal.id for goal in found)


def _is_any(goal: Goal, states: Sequence[str]) -> bool:
    return any(STATES[state](goal) for state in states)


def _text(goal: Goal) -> str:
    return f"{goal.id} {goal.description[:TITLE_CHARS]}".casefold()


def _has_letters(text: str, words: Sequence[str]) -> bool:
    """Say whether each word's letters stand in one word of the text, in order and from its beginning on."""
    return all(re.search(rf"\b{_letters(word)}", text) for word in words)


def _letters(word: str) -> str:
    return r"[^\s]*?".join(map(re.escape, word))


__all__ = ["SIGN", "STATES", "GoalFilter", "hits", "read_filter"]
