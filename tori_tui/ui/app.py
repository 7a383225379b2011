"""The app: the first frame, themes, and every way out.

Must not import the domain or a pane: what makes the session's screen is loaded after the first frame.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol

from textual import events
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen
from textual.worker import WorkerFailed

from tori_tui.domain.errors import ToriError, UsageError
from tori_tui.ui.command_palette import ActionPalette
from tori_tui.ui.driver import TerminalDriver, TerminalHungUp
from tori_tui.ui.messages import Beginning, ChoiceNeeded, SessionFailed, SetupNeeded, ThemeTried
from tori_tui.ui.shell import ShellScreen
from tori_tui.ui.themes import ThemeInvalid, ThemeSpec, load_theme, textual_theme, theme_names

CLOSE_WITHIN_S: Final = 8.0
"""Longer than a command's own way from TERM to KILL, so that nothing is left running."""

NEW_SESSION: Final = ""
"""In the place of a session's id: a new one."""

HANG_UP_CODE: Final = 129
TERMINATED_CODE: Final = 143


class TalkPort(Protocol):
    """What the app needs of the screen that shows a session."""

    @property
    def is_busy(self) -> bool:
        """Whether a run goes on."""
        ...

    def show_theme(self, theme: ThemeSpec) -> None:
        """Draw everything in a theme."""
        ...

    def choose_theme(self, names: Sequence[str], now: str) -> None:
        """Let the user choose one of the themes."""
        ...

    def take_keys(self, keys: Iterable[events.Key | events.Paste]) -> None:
        """Type what was typed before the screen was there."""
        ...

    def commands(self) -> Iterable[SystemCommand]:
        """Return what the palette offers."""
        ...


class Launch(Protocol):
    """What is loaded after the first frame."""

    def make_screen(self, theme: ThemeSpec) -> Screen[None]:
        """Return the screen, which is a `TalkPort` too."""
        ...

    def serve(self, post: Callable[[Message], object]) -> Awaitable[None]:
        """Feed the screen until the session is closed."""
        ...

    def close(self) -> Awaitable[None]:
        """Wind down; nothing runs after this."""
        ...


class ToriApp(App[None]):
    """Shows the frames at once, then one screen for good; help and palette come over it."""

    TITLE = "tori"
    ENABLE_COMMAND_PALETTE = True
    CSS_PATH = Path(__file__).parent / "screens" / "talk.tcss"
    """Of the app and not of a screen: Textual does not load the sheet of an app's first screen."""
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        load: Callable[[], Launch],
        *,
        theme: ThemeSpec,
        theme_directories: tuple[Path, ...] = (),
        sessions: Callable[[ThemeSpec, str, bool], Screen[str | None]] | None = None,
        welcome: Callable[[ThemeSpec, str], Screen[Beginning | None]] | None = None,
    ) -> None:
        self._spec = theme
        self._theme_directories = theme_directories
        self._load = load
        self._launch: Launch | None = None
        self._talk: TalkPort | None = None
        self._sessions = sessions
        """Makes the screen on which a session is chosen, from words to look for and whether a run goes on."""
        self._welcome = welcome
        """Makes the screen for who has no model yet, from the reason why."""
        self.beginning: Beginning | None = None
        """What to begin with, where the user had no model and chose one."""
        self._is_choosing = False
        self.chosen: str | None = None
        """The session to go on with after this one, or `NEW_SESSION`; None ends the program."""
        self.crash: BaseException | None = None
        """What ended the app, if it was a fault or a session that could not be opened."""
        super().__init__()
        own = textual_theme(theme)
        self.register_theme(own)
        self.theme = own.name

    # ── start ──

    def get_driver_class(self) -> type[Driver]:
        """Return the driver with the tolerant input."""
        return TerminalDriver

    def get_default_screen(self) -> Screen[None]:
        """Return the frames that stand until the session's screen is loaded."""
        return ShellScreen()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return tori's own colours, which the style sheets use."""
        return dict(textual_theme(self._spec).variables)

    def on_mount(self) -> None:
        """Watch the signals that end an app, and go on after the first frame."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._leave, TERMINATED_CODE)
        loop.add_signal_handler(signal.SIGHUP, self._leave, HANG_UP_CODE)
        self.call_after_refresh(self._first_frame_shown)

    def _first_frame_shown(self) -> None:
        self.run_worker(self._go_live(), name="session")

    async def _go_live(self) -> None:
        try:
            launch = self._launch = await asyncio.to_thread(self._load)
        except ToriError as error:
            self.post_message(SessionFailed(error))
            return
        except ChoiceNeeded as choice:
            await self._choose(choice.words)
            return
        except SetupNeeded as setup:
            await self._begin(setup.reason)
            return
        screen = launch.make_screen(self._spec)
        shell = self.screen
        await self.push_screen(screen)
        # What is imported and shown by now stays for good: the collector need not walk it again.
        gc.freeze()
        gc.enable()
        self._talk = screen  # type: ignore[assignment]
        if self._talk is not None and isinstance(shell, ShellScreen):
            shell.hand_over(self._talk.take_keys)
        await launch.serve(screen.post_message)

    def action_command_palette(self) -> None:
        """Show the palette; nothing if it is open."""
        if self._talk is None or any(isinstance(screen, ActionPalette) for screen in self.screen_stack):
            return

        def chosen(command: SystemCommand | None) -> None:
            if command is not None:
                command.callback()

        self.push_screen(ActionPalette(self._talk.commands()), chosen)

    def action_sessions(self) -> None:
        """Let the user choose another session."""
        if not self._is_choosing:
            self.run_worker(self._choose(), name="choice")

    async def action_clear(self) -> None:
        """End the app; the program goes on with a new session."""
        self.chosen = NEW_SESSION
        TerminalDriver.keeps_input = True
        await self.action_quit()

    async def _choose(self, words: str = "") -> None:
        """End the app with the session that the user chooses; the program goes on with it."""
        if self._sessions is None:
            self.bell()
            return
        self._is_choosing = True
        is_busy = self._talk is not None and self._talk.is_busy
        self.chosen = await self.push_screen_wait(self._sessions(self._spec, words, is_busy))
        self._is_choosing = False
        # What is typed while this session ends is meant for the one that was chosen.
        TerminalDriver.keeps_input = self.chosen is not None
        if self.chosen is not None or self._talk is None:
            await self.action_quit()

    async def _begin(self, reason: str) -> None:
        """End the app with what the user begins with; the program goes on with it, or ends."""
        if self._welcome is None:
            self.post_message(SessionFailed(UsageError(reason)))
            return
        self.beginning = await self.push_screen_wait(self._welcome(self._spec, reason))
        await self.action_quit()

    # ── themes and palette ──

    def use_theme(self, spec: ThemeSpec) -> None:
        """Draw everything in another theme."""
        self._spec = spec
        own = textual_theme(spec)
        self.register_theme(own)
        self.theme = own.name
        if self._talk is not None:
            self._talk.show_theme(spec)

    def action_choose_theme(self) -> None:
        """Let the user choose a theme, each shown while the cursor is on it."""
        if self._talk is not None:
            self._talk.choose_theme(theme_names(self._theme_directories), self._spec.name)

    def on_theme_tried(self, message: ThemeTried) -> None:
        """Use another theme, if its file allows it."""
        try:
            self.use_theme(load_theme(message.name, self._theme_directories))
        except ThemeInvalid as error:
            self.notify(str(error), severity="warning", markup=False)

    # ── ways out ──

    async def action_quit(self) -> None:
        """Leave: the session is wound down first, then the terminal is given back."""
        await self._wind_down()
        self.exit()

    def on_session_failed(self, message: SessionFailed) -> None:
        """Leave with what the user can mend."""
        self.crash = message.error
        self.exit(return_code=2)

    def on_terminal_hung_up(self, message: TerminalHungUp) -> None:
        """Leave as at a hang-up."""
        self._leave(HANG_UP_CODE)

    def _leave(self, code: int) -> None:
        async def leave() -> None:
            await self._wind_down()
            self.exit(return_code=code)

        self.run_worker(leave(), name="leave", exclusive=True, group="leave")

    async def _wind_down(self) -> None:
        if self._launch is not None:
            try:
                async with asyncio.timeout(CLOSE_WITHIN_S):
                    await self._launch.close()
            except TimeoutError:
                pass

    def _handle_exception(self, error: Exception) -> None:
        # What failed is told, not that it failed in a worker.
        cause: BaseException = error.error if isinstance(error, WorkerFailed) else error
        while isinstance(cause, BaseExceptionGroup) and len(cause.exceptions) == 1:
            cause = cause.exceptions[0]
        self.crash = self.crash or cause
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Close without Textual's own traceback: it shows the values of variables, keys included."""
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


def crash_report(crash: BaseException, directory: Path | None, go_on: str) -> str:
    """Return what a crash says on the way out: the traceback, where the session lies, how to go on."""
    text = "".join(traceback.format_exception(crash))
    if directory is None:
        return text
    return f"{text}\nThe session is safe in {directory}\nGo on with it: {go_on}\n"


__all__ = ["NEW_SESSION", "Launch", "TalkPort", "ToriApp", "crash_report"]
