"""What a live and a replayed session have in common: panes, folding, panes' keys, themes.

Must not know a session; records, events and states come in by methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from tori_tui.domain.events import Record, TransientEvent
from tori_tui.domain.state import SessionState
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import Action, Scope, bindings_of, shown_keys, told_actions
from tori_tui.ui.palette import Palette, palette_of
from tori_tui.ui.screens.goals import GoalsScreen
from tori_tui.ui.screens.help import HelpScreen
from tori_tui.ui.screens.opening import OpeningScreen
from tori_tui.ui.screens.themes import ThemesScreen
from tori_tui.ui.shell import NARROW_CELLS
from tori_tui.ui.themes import ThemeSpec
from tori_tui.ui.transcript.blocks import NoticeBlock
from tori_tui.ui.transcript.code import prepare_languages
from tori_tui.ui.transcript.story import Story
from tori_tui.ui.widgets.panes import Body, Frame
from tori_tui.ui.widgets.status_line import SPINNER_INTERVAL_S, StatusLine
from tori_tui.ui.widgets.transcript import Transcript

TICKS_A_SECOND: Final = round(1 / SPINNER_INTERVAL_S)


class TalkScreen(OpeningScreen, GoalsScreen):
    """Goal tree and conversation side by side, a status line below."""

    BLANK = True
    """Its widgets leave no cell free, so that there is nothing to draw."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("session")

    SCOPES: ClassVar[tuple[Scope, ...]] = ("session", "transcript", "goals", "filter", "context")
    """What the help tells of, in order."""

    def __init__(self, palette: Palette, *, clock: Callable[[], float]) -> None:
        super().__init__(palette, clock=clock)
        self.story = Story()
        self.talk_frame = Frame(self.transcript, id="talk")
        self.status_line = StatusLine(palette, clock=clock, id="status")
        self._ticker: Timer | None = None
        self._n_ticks = 0
        self._titles = ("", "")

    def compose(self) -> ComposeResult:
        """Lay the panes out."""
        with Body(id="body"):
            yield self.goals
            yield self.talk_frame
            yield self.context_pane
        yield self.search_bar
        yield self.goal_filter
        yield self.plan_strip
        yield from self.compose_below()
        yield self.status_line

    def compose_below(self) -> Iterable[Widget]:
        """Return what stands between the panes and the status line."""
        return ()

    def on_mount(self) -> None:
        """Start with clocks at rest: an idle screen costs nothing."""
        self._ticker = self.set_interval(SPINNER_INTERVAL_S, self._tick, pause=True)
        self.show_titles()
        self.run_worker(prepare_languages, thread=True, name="languages")

    def on_resize(self, event: events.Resize) -> None:
        """Give the tree's room to the conversation where the window is narrow."""
        self.set_class(event.size.width < NARROW_CELLS, "-narrow")

    @property
    def is_busy(self) -> bool:
        """Whether a run goes on."""
        return False

    # ── values in ──

    def tell_record(self, record: Record, state: SessionState) -> None:
        """Show a durable event."""
        self.state = state
        self.story.tell_record(record, state)
        self.show_story()
        self.show_state()

    def tell_event(self, event: TransientEvent) -> None:
        """Show something that happens."""
        self.story.tell_event(event, self.clock())
        self.show_story()

    def tell_state(self, state: SessionState, records: Sequence[Record] = ()) -> None:
        """Begin anew from a state and what led to it."""
        self.state = state
        self.story.tell_state(state, records)
        self.show_story()
        self.show_state()

    def show_story(self) -> None:
        """Hand changed blocks to the conversation."""
        if changes := self.story.take_changes():
            self.transcript.show(changes)
            self.count_changes(self.story.saved_trees.uncounted())

    def show_counts(self, numbers: Mapping[int, int]) -> None:
        """Show how many files changed at checkpoints."""
        self.story.saved_trees.counted(numbers)
        self.show_story()

    def show_state(self) -> None:
        """Show everything that follows from the state."""
        self.show_plan()
        self.context_pane.show(self.state)
        self.show_titles()
        self.show_status()
        if self._ticker is not None:
            if self.state.status == "running" or self.story.is_counting:
                self._ticker.resume()
            else:
                self._ticker.pause()

    def show_titles(self) -> None:
        """Show mission and progress in the frames."""
        done, total = self.state.tree.progress()
        mission = self.state.tree.current_mission
        titles = (f"{done}/{total}" if total else "", one_line(mission.text, 200) if mission else "tori")
        if titles != self._titles:
            # To set one draws the whole frame anew, even if it is the same.
            self._titles = titles
            self.goals.border_subtitle, self.talk_frame.border_title = map(Content, titles)

    def show_status(self) -> None:
        """Show the status line; screens say what stands in it."""

    def show_theme(self, theme: ThemeSpec) -> None:
        """Draw everything in a theme."""
        self.set_palette(palette_of(theme))

    def take_keys(self, keys: Iterable[events.Key | events.Paste]) -> None:
        """Type what was typed before the screen was there."""
        for event in keys:
            self.home.post_message(event)

    def commands(self) -> Iterable[SystemCommand]:
        """Return what the palette offers: the actions of the registry."""
        for _, actions in told_actions(self.SCOPES):
            yield from (self._command(action) for action in actions if action.in_palette)

    def _command(self, action: Action) -> SystemCommand:
        words = (shown_keys(action), f"/{action.slash}" if action.slash else "")
        targets: dict[Scope, tuple[Widget, str]] = {
            "input": (self.home, ""),
            "goals": (self.goals, f"Goal {self.goals.cursor or ''}".rstrip() + ": "),
            "transcript": (self.transcript, "Conversation: "),
        }
        target, prefix = targets.get(action.scope, (self, ""))
        title = f"{prefix}{action.title[0].lower()}{action.title[1:]}" if prefix else action.title
        help_text = " · ".join(word for word in words if word)
        return SystemCommand(title, help_text, lambda: self.call_later(target.run_action, action.name))

    def note(self, text: str, level: str = "info") -> None:
        """Show a word of the app's own in the conversation."""
        self.story.tell_note(NoticeBlock(text, "warning" if level == "warning" else "info"))
        self.show_story()

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        self.palette = palette
        for widget in (self.goals, self.transcript, self.context_pane, self.plan_strip, self.status_line):
            widget.set_palette(palette)

    def _tick(self) -> None:
        self._n_ticks += 1
        self.status_line.tick()
        if self._n_ticks % TICKS_A_SECOND == 0:
            self.story.tick(self.clock())
            self.show_story()
            self.tick_plan()
            self.transcript.tick()

    # ── intents of the panes ──

    def on_transcript_following_changed(self, message: Transcript.FollowingChanged) -> None:
        """Say that there is more below while the view does not follow."""
        self.talk_frame.border_subtitle = Content("" if message.is_following else "↓ End: newest")

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        """Copy a block."""
        self.app.copy_to_clipboard(message.text)

    # ── actions ──

    @property
    def home(self) -> Widget:
        """The widget that has the focus when nothing else wants it."""
        return self.transcript

    def action_next_pane(self) -> None:
        """Move the focus to the next pane."""
        self.focus_next()

    def action_unfold(self) -> None:
        """Unfold or fold the marked block, else the newest that can be."""
        self.transcript.action_toggle_fold()

    def action_follow_end(self) -> None:
        """Show the newest and follow it."""
        self.transcript.action_follow()

    def action_palette(self) -> None:
        """Open the command palette."""
        self.app.action_command_palette()

    def action_suspend(self) -> None:
        """Hand the terminal back to the shell."""
        self.app.action_suspend_process()

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(self.palette, self.SCOPES))

    async def action_choose_theme(self) -> None:
        """Choose a theme."""
        await self.app.run_action("app.choose_theme")

    def choose_theme(self, names: Sequence[str], now: str) -> None:
        """Show the themes, each while the cursor is on it."""

        def kept(name: str | None) -> None:
            if name is not None:
                self.note(
                    f'Theme {name}, for this session. For good: write theme = "{name}" into config.toml; '
                    "`tori doctor` says where it is."
                )

        self.app.push_screen(ThemesScreen(names, now), kept)

    async def action_clear(self) -> None:
        """Go on with a new session."""
        await self.app.run_action("app.clear")

    async def action_sessions(self) -> None:
        """Choose another session to go on with."""
        await self.app.run_action("app.sessions")

    async def action_quit(self) -> None:
        """Leave."""
        await self.app.run_action("app.quit")


__all__ = ["TalkScreen"]
