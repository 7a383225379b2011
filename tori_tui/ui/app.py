"""The app: themes, first frame, ways out.

Must not know a session's inside; it opens the bridge after the first frame and closes it at the end.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Final

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen

from tori_tui.ui.actions import ACTIONS, Scope, shown_keys
from tori_tui.ui.bridge import Bridge, SessionFailed
from tori_tui.ui.driver import TerminalDriver, TerminalHungUp
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.help import HelpScreen
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.themes import DARK, ThemeSpec, load_theme, textual_theme, theme_names

CLOSE_WITHIN_S: Final = 8.0
"""Longer than a command's own way from TERM to KILL, so that nothing is left running."""

HANG_UP_CODE: Final = 129
TERMINATED_CODE: Final = 143


class ToriApp(App[None]):
    """Runs one screen; the rest is help and palette over it."""

    TITLE = "tori"
    CSS_PATH = Path(__file__).parent / "screens" / "talk.tcss"
    """Of the app and not of the screen: Textual does not load the sheet of an app's first screen."""
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        make_screen: Callable[[ThemeSpec], TalkScreen],
        *,
        theme: ThemeSpec,
        theme_directories: tuple[Path, ...] = (),
        bridge: Bridge | None = None,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._spec = theme
        self._theme_directories = theme_directories
        self._make_screen = make_screen
        self._bridge = bridge
        self._prepare = prepare
        self.crash: BaseException | None = None
        """What ended the app, if it was a fault or a session that could not be opened."""
        self._talk: TalkScreen | None = None
        super().__init__()
        own = textual_theme(theme)
        self.register_theme(own)
        self.theme = own.name

    # ── start ──

    def get_driver_class(self) -> type[Driver]:
        """Return the driver with the tolerant input."""
        return TerminalDriver

    def get_default_screen(self) -> Screen[None]:
        """Return the session's or the replay's screen."""
        self._talk = self._make_screen(self._spec)
        return self._talk

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
        # What was imported for the first frame stays for good: the collector need not walk it again.
        gc.freeze()
        gc.enable()
        if self._bridge is not None:
            self.run_worker(self._serve(self._bridge), name="session", exit_on_error=True)

    async def _serve(self, bridge: Bridge) -> None:
        await asyncio.to_thread(self._prepare)
        if self._talk is not None:
            await bridge.serve(self._talk.post_message)

    # ── themes ──

    def use_theme(self, spec: ThemeSpec) -> None:
        """Draw everything in another theme."""
        self._spec = spec
        own = textual_theme(spec)
        self.register_theme(own)
        self.theme = own.name
        if self._talk is not None:
            self._talk.set_palette(palette_of(spec))

    def action_next_theme(self) -> None:
        """Use the next theme by name."""
        names = theme_names(self._theme_directories) or (DARK,)
        index = names.index(self._spec.name) + 1 if self._spec.name in names else 0
        self.use_theme(load_theme(names[index % len(names)], self._theme_directories))

    # ── help and palette ──

    def action_help(self) -> None:
        """Show every key."""
        if not isinstance(self.screen, HelpScreen):
            scopes: tuple[Scope, ...] = ("session", "input", "transcript", "goals", "approval")
            if self._bridge is None:
                scopes = ("replay", "session", "transcript", "goals")
            self.push_screen(HelpScreen(palette_of(self._spec), scopes))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the actions of the registry for the palette."""
        talk = self._talk
        if talk is None:
            return
        scopes = ("session", "input") if self._bridge is not None else ("session", "replay")
        for action in ACTIONS:
            if action.scope not in scopes or not action.in_palette:
                continue
            target = "talk.input." if action.scope == "input" else ""
            help_text = " · ".join(
                part for part in (shown_keys(action), f"/{action.slash}" if action.slash else "") if part
            )
            yield SystemCommand(
                action.title, help_text, lambda name=action.name, of=target: self._run(name, of)
            )

    def _run(self, name: str, target: str) -> None:
        if self._talk is not None:
            namespace = self._talk if not target else self._talk.home
            self._talk.call_later(namespace.run_action, name)

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
        if self._bridge is not None:
            try:
                async with asyncio.timeout(CLOSE_WITHIN_S):
                    await self._bridge.close()
            except TimeoutError:
                pass

    def _handle_exception(self, error: Exception) -> None:
        self.crash = self.crash or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Close without Textual's own traceback: it shows the values of variables, keys included."""
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


def crash_report(crash: BaseException, directory: Path | None) -> str:
    """Return what a crash says on the way out: the traceback, and where the session lies."""
    lines = traceback.format_exception(crash)
    where = (
        f"\nThe session is safe in {directory}; go on with: tori resume {directory.name}\n"
        if directory
        else "\n"
    )
    return "".join(lines) + where


__all__ = ["ToriApp", "crash_report"]
