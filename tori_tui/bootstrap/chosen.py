"""Model and mode with which the first run of a session begins.

Must not choose them; who opens the session does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from tori_tui import __version__
from tori_tui.domain.commands import SwitchEffort, SwitchMode, SwitchModel
from tori_tui.domain.events import Mode, RunStatusChanged
from tori_tui.domain.state import SessionState


class Chosen:
    """Model and mode with which the first run begins; afterwards the state knows better.

    Args:
        model: What options, trace and settings come to.
        mode: What options and settings come to.
        ready: Makes what speaks to a model.
    """

    def __init__(self, model: str, mode: Mode, ready: Callable[[str], Awaitable[object]]) -> None:
        self.model = model
        self.mode = mode
        self._ready = ready
        self._keeps_model = self._keeps_mode = False

    async def take(self, switch: SwitchModel | SwitchMode | SwitchEffort) -> None:
        """Let what the user has switched since go over what was chosen, also where it is what it was.

        Raises:
            ToriError: It is a model that cannot be used.
        """
        if isinstance(switch, SwitchModel):
            await self._ready(switch.model)
        self._keeps_model = self._keeps_model or isinstance(switch, SwitchModel)
        self._keeps_mode = self._keeps_mode or isinstance(switch, SwitchMode)

    def facts(self, state: SessionState, cwd: Path, commit: str) -> RunStatusChanged:
        """Return the record that begins a run."""
        model = (state.model if self._keeps_model else "") or self.model
        mode = (state.mode if self._keeps_mode else "") or self.mode
        self._keeps_model = self._keeps_mode = True
        return RunStatusChanged(
            "running",
            model=model,
            mode=mode,
            cwd=str(cwd),
            git_head=commit,
            tori_version=__version__,
        )


__all__ = ["Chosen"]
