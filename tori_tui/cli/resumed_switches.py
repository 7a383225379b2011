"""What changes at once in a session that is opened again: the screen must not show what does not hold.

Must not decide about model and mode; the configuration and the command line have.
"""

from __future__ import annotations

from collections.abc import Iterator

from tori_tui.domain.commands import SwitchMode, SwitchModel
from tori_tui.domain.events import Mode
from tori_tui.domain.state import SessionState


def resumed_switches(
    state: SessionState, model: str | None, mode: Mode
) -> Iterator[SwitchModel | SwitchMode]:
    """Yield the switches from what a session had to what its next run will have.

    Args:
        state: As it was left; in a new one there is nothing to switch.
        model: Of the command line; without one it keeps its own.
        mode: In which the next run begins.
    """
    if model and state.model and model != state.model:
        yield SwitchModel(model)
    if state.mode and mode != state.mode:
        yield SwitchMode(mode)


__all__ = ["resumed_switches"]
