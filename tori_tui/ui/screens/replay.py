"""A saved session on the same screen: by turn, by goal, at its own speed; no model.

Must not change anything; it shows the records that it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tori_tui.domain.agents import BUILD
from tori_tui.domain.counted_path import LeftOut
from tori_tui.domain.events import Record
from tori_tui.render.amounts import counted, shown_cost
from tori_tui.ui.actions import Scope, actions_of, bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.replaying import Replaying
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.widgets.goal_tree import GoalTree
from tori_tui.ui.widgets.scrubber import Played, Scrubber
from tori_tui.ui.widgets.status_line import Status

SPEEDS: Final = (1, 2, 5, 10, 50)
"""Times the speed of the session itself, its pauses cut."""

LONGEST_PAUSE_S: Final = 2.0
"""Between two records: nobody wants to wait as long as the model did."""

SHORTEST_PAUSE_S: Final = 0.03

TYPED_DIGITS: Final = 6

OWN_ACTIONS: Final = frozenset(action.name.partition("(")[0] for action in actions_of("replay"))

TREE_ACTIONS: Final = frozenset({"turn", "pause"})
"""Whose keys fold and unfold while the goal tree has the focus."""


class RecordsGrew(Message):
    """The session goes on elsewhere: these are its records now."""

    def __init__(self, records: Sequence[Record]) -> None:
        super().__init__()
        self.records = records


class ReplayScreen(TalkScreen):
    """Goal tree and conversation, a scrubber in the place of the input.

    Args:
        palette: Styles.
        records: Of the session, in order.
        clock: Seconds that only grow.
        note: What is wrong with the records; empty for nothing.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("replay", "session", "transcript", "goals", "context", "search")

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("replay")

    def __init__(
        self, palette: Palette, records: Sequence[Record], *, clock: Callable[[], float], note: str = ""
    ) -> None:
        super().__init__(palette, clock=clock)
        self.replaying = Replaying(records, self.story, note)
        self._note = note.partition("\n")[0]
        self._speed = 1
        self._typed: str | None = None
        self._timer: Timer | None = None
        self.scrubber = Scrubber(palette, id="scrubber")

    def compose_below(self) -> Iterable[Widget]:
        """Return the scrubber."""
        return (self.scrubber,)

    def on_mount(self) -> None:
        """Begin at the end: a finished session is looked at from its result."""
        self.transcript.focus()
        self.replaying.go_to(self.replaying.timeline.n_places)
        self._show()

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        super().set_palette(palette)
        self.scrubber.set_palette(palette)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys to what is being written, and some of them to the tree."""
        if action not in OWN_ACTIONS or action == "interrupt":
            return True
        if isinstance(self.focused, Input):
            return False
        if action == "go_to_typed":
            return self._typed is not None
        return not (isinstance(self.focused, GoalTree) and action in TREE_ACTIONS)

    # ── moving in time ──

    def seek(self, place: int) -> None:
        """Stop, and show the session up to a place."""
        self._stop()
        self._typed = None
        self.replaying.go_to(place)
        self.transcript.action_follow()
        self._show()

    def _show(self) -> None:
        state = self.replaying.state
        # No clock of a run that is long over may go on.
        self.state = replace(state, status="idle") if state.status == "running" else state
        self.show_story()
        self.show_state()
        self._show_scrubber()

    def _show_scrubber(self) -> None:
        replaying = self.replaying
        path = _path_told(replaying.left_out) if replaying.is_path else ""
        played = Played(replaying.place, self._speed, self.is_playing, self._typed, path)
        self.scrubber.show(replaying.timeline, played)

    def on_records_grew(self, message: RecordsGrew) -> None:
        """Go on with what was written meanwhile, if the end is looked at."""
        was_at_end = self.replaying.is_at_end
        self.replaying.grow(message.records)
        if was_at_end and not self.is_playing:
            self.replaying.go_to(self.replaying.timeline.n_places)
        self._show()

    @property
    def is_playing(self) -> bool:
        """Whether time goes on by itself."""
        return self._timer is not None

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _schedule(self) -> None:
        self._timer = self.set_timer(self._pause_s(), self._play_on)

    def _pause_s(self) -> float:
        at, following = self.replaying.at, self.replaying.next
        if at is None or following is None:
            return SHORTEST_PAUSE_S
        gap_s = (following.at - at.at).total_seconds()
        return max(SHORTEST_PAUSE_S, min(gap_s, LONGEST_PAUSE_S) / self._speed)

    def _play_on(self) -> None:
        self._timer = None
        self.replaying.go_to(self.replaying.place + 1)
        if not self.replaying.is_at_end:
            self._schedule()
        self._show()

    def on_scrubber_sought(self, message: Scrubber.Sought) -> None:
        """Go to a place on the scrubber."""
        self.seek(message.place)

    def on_goal_tree_jumped(self, message: GoalTree.Jumped) -> None:
        """Go to where work on a goal began."""
        message.prevent_default()
        place = self.replaying.timeline.begin_of(message.goal_id)
        if place is not None:
            self._uncover()
            self.seek(place)
            self.transcript.focus()

    def on_key(self, event: events.Key) -> None:
        """Take the digits of a turn's number."""
        if event.character is not None and event.character in "0123456789":
            self._typed = ((self._typed or "") + event.character)[:TYPED_DIGITS]
        elif event.key == "backspace" and self._typed is not None:
            self._typed = self._typed[:-1]
        else:
            return
        event.stop()
        self._show_scrubber()

    # ── actions ──

    def action_pause(self) -> None:
        """Pause, or play; at the end play from the start."""
        if self._timer is not None:
            self._stop()
        else:
            if self.replaying.is_at_end:
                self.replaying.go_to(0)
            self._schedule()
        self.transcript.action_follow()
        self._show()

    def action_step(self, step: int) -> None:
        """Go to the next or last record that was said."""
        self.seek(self.replaying.message_end(step))

    def action_turn(self, step: int) -> None:
        """Go to the end of the next or last turn."""
        self.seek(self.replaying.timeline.turn_end(self.replaying.place, step))

    def action_to_goal(self, step: int) -> None:
        """Go to where the next or last goal begins."""
        self.seek(self.replaying.timeline.goal_begin(self.replaying.place, step))

    def action_ask_turn(self) -> None:
        """Ask for the number of a turn."""
        self._typed = ""
        self._show_scrubber()

    def action_go_to_typed(self) -> None:
        """Go to the turn whose number was typed."""
        place = self.replaying.place
        self.seek(self.replaying.timeline.end_of_turn(int(self._typed)) if self._typed else place)

    def action_speed(self, step: int) -> None:
        """Play faster or slower."""
        index = max(0, min(SPEEDS.index(self._speed) + step, len(SPEEDS) - 1))
        self._speed = SPEEDS[index]
        self._show_scrubber()

    def action_seek(self, share: int) -> None:
        """Go to the start (0) or the end (1)."""
        self.seek(self.replaying.timeline.n_places * share)

    def action_toggle_path(self) -> None:
        """Tell only what counted in the end, or everything."""
        self.replaying.show_path(not self.replaying.is_path)
        self.transcript.action_follow()
        self._show()

    def action_interrupt(self) -> None:
        """Ask for no turn any more; else pause and go back to the conversation."""
        if self._typed is not None:
            self._typed = None
        else:
            self._stop()
            self.remove_class("-goals-shown")
            self.transcript.focus()
        self._show_scrubber()

    async def action_leave(self) -> None:
        """Quit."""
        await self.action_quit()

    async def action_copy_interrupt_or_quit(self) -> None:
        """Copy the selection, else leave."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        else:
            await self.action_quit()

    def show_status(self) -> None:
        """Show what the session stood at."""
        state = self.state
        turn = state.last_turns.get(state.active_context)
        self.status_line.show(
            Status(
                status=state.status,
                hints=("replay", "Space play", "q quit", "←→ turn", "[ ] goal", "o what counted", "F1 keys"),
                note=self._note,
                model=state.model_in_force,
                mode=state.mode_in_force,
                agent="" if state.agent == BUILD else state.agent,
                context_tokens=turn.usage.total_tokens if turn else 0,
                cost=shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns) if state.n_turns else "",
            )
        )


def _branches(n: int) -> str:
    return "1 branch" if n == 1 else f"{n} branches"


def _path_told(left_out: LeftOut) -> str:
    """Return what a path leaves out, in words."""
    parts = [
        counted(left_out.n_goals, "goal") + " given up" if left_out.n_goals else "",
        _branches(left_out.n_branches) + " not adopted" if left_out.n_branches else "",
        counted(left_out.n_rewound, "message") + " rewound" if left_out.n_rewound else "",
    ]
    told = ", ".join(part for part in parts if part)
    if not told:
        return "only what counted: that is everything · o back"
    return (
        f"only what counted · hidden: {told}; {counted(left_out.n_messages, 'message')} in all · o shows it"
    )


__all__ = ["RecordsGrew", "ReplayScreen"]
