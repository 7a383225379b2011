"""Model and mode with which the first run of a session begins.

Must not choose them; who opens the session does.
"""

from __future__ import annotations

from pathlib import Path

from tori_tui import __version__
from tori_tui.domain.events import Mode, RunStatusChanged
from tori_tui.domain.state import SessionState


class Chosen:
    """Model and mode with which the first run begins; afterwards the state knows better."""

    def __init__(self, model: str, mode: Mode) -> None:
        self.model = model
        self.mode = mode
        self._has_begun = False

    def facts(self, state: SessionState, cwd: Path, commit: str) -> RunStatusChanged:
        """Return the record that begins a run."""
        if self._has_begun:
            return RunStatusChanged(
                "running",
                model=state.model,
                mode=state.mode,
                cwd=str(cwd),
                git_head=commit,
                tori_version=__version__,
            )
        self._has_begun = True
        return RunStatusChanged(
            "running",
            model=self.model,
            mode=self.mode,
            cwd=str(cwd),
            git_head=commit,
            tori_version=__version__,
        )


__all__ = ["Chosen"]
