"""How a goal is written in one line, the same in the prompt, on the screen and in a tool's answer.

Must not decide which goals are shown; the plan block and the pane do.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tori_tui.domain.goals import Goal, GoalStatus

STATUS_MARKS: Final[Mapping[GoalStatus, str]] = MappingProxyType(
    {"pending": "[ ]", "in_progress": "[→]", "completed": "[✓]", "abandoned": "[✗]"}
)

HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co"})
"""Unicode categories of control, format, surrogate and private characters."""

JOINERS: Final = frozenset("\u200c\u200d")
"""Format characters that hold words and emoji together."""


USER_EDITED: Final = "The user changed the plan. "
"""So begins what the model is told of the user's own changes."""


def one_line(text: str, limit_chars: int | None = None) -> str:
    """Return the text on one line without control characters, cut with an ellipsis."""
    if limit_chars is not None:
        # White space and control characters may be left out, so the cut comes last; this bounds the work.
        text = text[: 8 * limit_chars + 1_000]
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(c for c in line if c in JOINERS or unicodedata.category(c) not in HIDDEN_CATEGORIES)
    if limit_chars is None or len(line) <= limit_chars:
        return line
    return line[: limit_chars - 1].rstrip() + "…"


def goal_title(goal: Goal, limit_chars: int | None = None) -> str:
    """Return `2'.1 Design`, on one line."""
    return f"{goal.id} {one_line(goal.description, limit_chars)}"


def goal_heading(goal: Goal, limit_chars: int | None = None) -> str:
    """Return `[✓] 2'.1 Design`, or with a dot after the id of a root goal: `[✗] 2. Plan A`."""
    number = goal.id if "." in goal.id else f"{goal.id}."
    return f"{STATUS_MARKS[goal.status]} {number} {one_line(goal.description, limit_chars)}"


__all__ = ["STATUS_MARKS", "USER_EDITED", "goal_heading", "goal_title", "one_line"]
