"""What the panes of a session need of the world outside: functions that are handed in.

Must not do any of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tori_tui.domain.inspection import ContextPage

FindPage = Callable[[int], ContextPage | None]
"""Given the number of the first record to leave out; runs in a thread."""


def no_page(before: int) -> ContextPage | None:
    """Find nothing."""
    return None


@dataclass(frozen=True, slots=True)
class TalkPorts:
    """Where what is shown beside the conversation comes from."""

    context: FindPage = no_page


__all__ = ["FindPage", "TalkPorts", "no_page"]
