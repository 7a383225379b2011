"""What prints a session's events, and what it needs to know of the session.

Must not send commands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.state import SessionState
from tori_tui.runtime.bus import BusItem


class ShownSession(Protocol):
    """The part of a session that is shown."""

    @property
    def directory(self) -> Path:
        """Where its trace lies."""
        ...

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        ...


class Front(Protocol):
    """One way to print."""

    def begin(self, session: ShownSession, notices: tuple[str, ...]) -> None:
        """Show what the user should be told before the first event."""
        ...

    def show(self, item: BusItem) -> None:
        """Show one event."""
        ...

    def finish(self, state: SessionState, denied: tuple[ApprovalChanged, ...]) -> None:
        """Show how the run ended."""
        ...


__all__ = ["Front", "ShownSession"]
