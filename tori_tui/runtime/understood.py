"""A reply as it is meant.

Must not read one; `encoding` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from tori_tui.providers.fold import Reply


@dataclass(frozen=True, slots=True)
class Understood:
    """A reply as it is meant."""

    reply: Reply
    """Its text without the calls, and the calls."""
    answer: str | None = None
    """What the run's answer is, once its calls have succeeded."""
    problem: str = ""
    """What is wrong with it, naming the field."""
    remedy: str = ""
    """What to do about the problem."""
    notice: str = ""
    """For the user: the encoding changes."""


__all__ = ["Understood"]
