"""What the status line of a live session says, and what it has to remember for that.

Must not draw; the widget does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from tori_tui.domain.agents import BUILD
from tori_tui.domain.events import RunStatusChanged
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import shown_cost
from tori_tui.ui.outside import Outside
from tori_tui.ui.widgets.status_line import Status

QUIT_WITHIN_S: Final = 2.0
"""Two Ctrl+C within this time, when idle, quit."""

Pane = Literal["input", "goals", "transcript", "other"]
"""Where keys go."""

_GOES_BACK: Final = ("Esc back", "Enter send")
_IN_INPUT: Final = ("Enter send",)
_IN_INPUT_BUSY: Final = ("Enter comment",)
_IN_PANES: Final[Mapping[Pane, tuple[str, ...]]] = MappingProxyType(
    {
        "input": (),
        "goals": ("Enter jump", "c comment", "a add"),
        "transcript": ("↑↓ scroll", "Enter unfold", "/ search"),
        "other": (),
    }
)
_ALWAYS: Final = ("F1 keys", "Ctrl+P commands")


class SessionStatus:
    """Facts that are in no state: the branch, the sandbox, the request under way, when the run began.

    Args:
        outside: Knows the git branch and the models' windows.
        clock: The screen's, in seconds.
        model: Shown until the session tells one.
        mode: The same.

    Attributes:
        sandbox: Name of the one that confines commands; empty without one.
        context_tokens: Of the newest request.
    """

    def __init__(self, outside: Outside, clock: Callable[[], float], model: str, mode: str) -> None:
        self._outside = outside
        self._clock = clock
        self._model, self._mode = model, mode
        self.sandbox = ""
        self.context_tokens = 0
        self._branch = ""
        self._run_since_s: float | None = None
        self._quit_asked_s = float("-inf")

    def look_at_branch(self) -> None:
        """See which branch of git is checked out now."""
        self._branch = self._outside.branch()

    def run_changed(self, event: RunStatusChanged) -> None:
        """Count the time of a run from its beginning on, over all waiting in it."""
        self.look_at_branch()
        if event.status not in ("running", "waiting"):
            self._run_since_s = None
        elif self._run_since_s is None:
            self._run_since_s = self._clock()

    def asks_again_to_quit(self) -> bool:
        """Note that the user asked to quit; say whether it is the second time."""
        was_asked = self._is_quitting
        self._quit_asked_s = self._clock()
        return was_asked

    def model_of(self, state: SessionState) -> str:
        """Return the model of the next request."""
        return state.model_in_force or self._model

    def mode_of(self, state: SessionState) -> str:
        """Return the mode that the user has chosen."""
        return state.mode or self._mode

    def shown(
        self, state: SessionState, *, pane: Pane, is_busy: bool, goes_back: bool, effort: str
    ) -> Status:
        """Return what the line says.

        Args:
            state: The session's.
            pane: Which has the focus.
            is_busy: Whether it works, or a command of the user's own does.
            goes_back: Whether Esc leads back from what the input is for.
            effort: What the model is told to think.
        """
        model = self.model_of(state)
        turn = state.last_turns.get(state.active_context)
        tokens = self.context_tokens or (turn.usage.total_tokens if turn else 0)
        return Status(
            status=state.status,
            hints=_hints(pane, is_busy=is_busy, goes_back=goes_back),
            note="Ctrl+C again quits" if self._is_quitting else "",
            model=model,
            effort=effort,
            mode=state.mode_in_force or self._mode,
            agent="" if state.agent == BUILD else state.agent,
            context_tokens=tokens,
            window_tokens=self._outside.window_of(model) if model and tokens else 0,
            cost=shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns) if state.n_turns else "",
            branch=self._branch,
            sandbox=self.sandbox,
            started_s=self._run_since_s if state.status == "running" else None,
        )

    @property
    def _is_quitting(self) -> bool:
        return self._clock() - self._quit_asked_s < QUIT_WITHIN_S


def _hints(pane: Pane, *, is_busy: bool, goes_back: bool) -> tuple[str, ...]:
    """Return what keys do now, the most useful first."""
    if goes_back:
        return (*_GOES_BACK, *_ALWAYS)
    if pane == "input":
        return ("Esc interrupt", *_IN_INPUT_BUSY, *_ALWAYS) if is_busy else (*_IN_INPUT, *_ALWAYS)
    escape = "Esc interrupt" if is_busy else "Esc to the input"
    return (escape, *_IN_PANES[pane], *_ALWAYS)


__all__ = ["QUIT_WITHIN_S", "Pane", "SessionStatus"]
