"""Model and mode with which the first run of a session begins.

Must not choose them; who opens the session does.
"""

from __future__ import annotations

from pathlib import Path

from tori_tui import __version__
from tori_tui.domain.events import Mode, RunStatusChanged
from tori_tui.domain.state import SessionState


class Chosen:
    """Model and mode with which the first run begins; afterwards the state knows better.

    Args:
        model: What options, trace and settings come to.
        mode: The same.
        opened: The state with which the session was opened: what the user has switched since goes over both.
    """

    def __init__(self, model: str, mode: Mode, opened: SessionState) -> None:
        self.model = model
        self.mode = mode
        self._opened = opened
        self._has_begun = False

    def facts(self, state: SessionState, cwd: Path, commit: str) -> RunStatusChanged:
        """Return the record that begins a run."""
        is_switched = state.model != self._opened.model, state.mode != self._opened.mode
        keeps_model, keeps_mode = (self._has_begun or is_other for is_other in is_switched)
        self._has_begun = True
        return RunStatusChanged(
            "running",
            model=state.model if keeps_model else self.model,
            mode=state.mode if keeps_mode else self.mode,
            cwd=str(cwd),
            git_head=commit,
            tori_version=__version__,
        )


__all__ = ["Chosen"]
