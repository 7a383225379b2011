"""What the session's screen asks of the world around the session, as functions.

Must not know where the answers come from; tests give others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState


@dataclass(frozen=True, slots=True)
class Outside:
    """Each has an answer that knows nothing, so that a screen can stand alone."""

    window_of: Callable[[str], int] = lambda _: 0
    """A model's context window in tokens; 0 where unknown."""
    branch: Callable[[], str] = lambda: ""
    """The work tree's git branch."""
    history: Sequence[str] = ()
    """What the user wrote before, oldest first."""
    remember: Callable[[str], None] = lambda _: None
    """Adds to the history."""
    agents: Callable[[], Sequence[str]] = lambda: ()
    """The names of the agents that there are."""
    paths: Callable[[str], Sequence[str]] = lambda _: ()
    """Files and folders of the work tree that a text is the beginning of."""
    goal_diff: Callable[[SessionState, GoalId], str] = lambda _, __: ""
    """What the agent changed for a goal, as a unified diff; may take long, so it is called in a thread.

    Raises `ToriError`.
    """


__all__ = ["Outside"]
