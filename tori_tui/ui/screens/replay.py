"""A saved session on the same screen: step, play, seek; no model.

Must not change anything; it shows the records that it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget

from tori_tui.domain.agents import BUILD
from tori_tui.domain.events import MessageAdded, Record, TurnFinished
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import shown_cost
from tori_tui.ui.actions import Scope, bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.widgets.scrubber import Scrubber
from tori_tui.ui.widgets.status_line import Status

SPEEDS: Final = (1, 2, 5, 10, 50)
"""Times the speed of the session itself, its pauses cut."""

LONGEST_PAUSE_S: Final = 2.0
"""Between two records: nobody wants to wait as long as the model did."""

SHORTEST_PAUSE_S: Final = 0.03


class ReplayScreen(TalkScreen):
    """Goal tree and conversation, a scrubber in the place of the input."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ("replay", "session", "transcript", "goals", "context", "search")

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("replay")

    def __init__(self, palette: Palette, records: Sequence[Record], *, clock: Callable[[], float]) -> None:
        super().__init__(palette, clock=clock)
        self._records = records
        self._at = 0
        """How many records are shown."""
        self._speed = 1
        self._timer: Timer | None = None
        self.scrubber = Scrubber(palette, id="scrubber")

    def compose_below(self) -> Iterable[Widget]:
        """Return the scrubber."""
        return (self.scrubber,)

    def on_mount(self) -> None:
        """Begin at the end: a finished session is looked at from its result."""
        self.transcript.focus()
        self.seek(len(self._records))

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        super().set_palette(palette)
        self.scrubber.set_palette(palette)

    # ── moving in time ──

    def seek(self, at: int) -> None:
        """Show the first so many records."""
        at = max(0, min(at, len(self._records)))
        if at < self._at:
            self._begin_anew()
        self.state = self.story.tell_records(self._records[self._at : at], self.state)
        self._at = at
        self.show_story()
        self.show_state()
        self.scrubber.show(self._at, len(self._records), self.state.n_turns, self._speed, self.is_playing)

    def _begin_anew(self) -> None:
        self.state = SessionState()
        self.story.tell_state(self.state)
        self._at = 0

    @property
    def is_playing(self) -> bool:
        """Whether time goes on by itself."""
        return self._timer is not None

    def action_pause(self) -> None:
        """Pause, or play; at the end play from the start."""
        if self._timer is not None:
            self._stop()
        else:
            if self._at == len(self._records):
                self._begin_anew()
            self._schedule()
        self.seek(self._at)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _schedule(self) -> None:
        self._timer = self.set_timer(self._pause_s(), self._play_on)

    def _pause_s(self) -> float:
        if not 0 < self._at < len(self._records):
            return SHORTEST_PAUSE_S
        gap = self._records[self._at].at - self._records[self._at - 1].at
        return max(SHORTEST_PAUSE_S, min(gap.total_seconds(), LONGEST_PAUSE_S) / self._speed)

    def _play_on(self) -> None:
        self._timer = None
        if self._at + 1 < len(self._records):
            self._schedule()
        self.seek(self._at + 1)

    def action_step(self, step: int) -> None:
        """Go to the next or previous record that was said."""
        self._stop()
        self.seek(self._place_of(step, MessageAdded))

    def action_turn(self, step: int) -> None:
        """Go to the end of the next or previous turn."""
        self._stop()
        self.seek(self._place_of(step, TurnFinished))

    def _place_of(self, step: int, kind: type[MessageAdded] | type[TurnFinished]) -> int:
        places = range(self._at, len(self._records)) if step > 0 else range(self._at - 2, -1, -1)
        found = next((i for i in places if isinstance(self._records[i].event, kind)), None)
        if found is not None:
            return found + 1
        return len(self._records) if step > 0 else 0

    def action_speed(self, step: int) -> None:
        """Play faster or slower."""
        index = max(0, min(SPEEDS.index(self._speed) + step, len(SPEEDS) - 1))
        self._speed = SPEEDS[index]
        self.seek(self._at)

    def action_seek(self, share: int) -> None:
        """Go to the start (0) or the end (1)."""
        self._stop()
        self.seek(len(self._records) * share)

    def on_scrubber_sought(self, message: Scrubber.Sought) -> None:
        """Go to a place on the scrubber."""
        self._stop()
        self.seek(message.at)

    def action_interrupt(self) -> None:
        """Pause; a second time go back to the conversation."""
        self._stop()
        self.remove_class("-goals-shown")
        self.seek(self._at)
        self.transcript.focus()

    async def action_copy_interrupt_or_quit(self) -> None:
        """Copy the selection, else leave."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        else:
            await self.action_quit()

    def action_next_mode(self) -> None:
        """Nothing to switch in a replay."""

    def action_go_on(self) -> None:
        """Nothing to go on with in a replay."""

    def show_status(self) -> None:
        """Show what the session stood at."""
        state = self.state
        turn = state.last_turns.get(state.active_context)
        self.status_line.show(
            Status(
                status="idle" if state.status == "running" else state.status,
                hints=("replay", "Space play", "←→ step", "n p turns", "F1 keys", "Ctrl+Q quit"),
                model=state.model_in_force,
                mode=state.mode_in_force,
                agent="" if state.agent == BUILD else state.agent,
                context_tokens=turn.usage.total_tokens if turn else 0,
                cost=shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns) if state.n_turns else "",
            )
        )


__all__ = ["ReplayScreen"]
