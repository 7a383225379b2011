"""The app over a live session: theme first, everything else while the first frame is looked at.

Must not import a provider, the configuration or the runner at its top: that is `load`'s.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.message import Message
from textual.screen import Screen

from tori_tui.cli import streams
from tori_tui.cli.app import AppOptions
from tori_tui.cli.exit_codes import FAILED
from tori_tui.cli.first_steps import begun, refuse_without_model, welcome_screen, with_server
from tori_tui.cli.session_choice import choice_screen, refuse_ambiguous
from tori_tui.cli.terminal import EarlyTerminal
from tori_tui.domain.errors import ToriError, UsageError
from tori_tui.ui.app import NEW_SESSION, Launch, ToriApp, crash_report
from tori_tui.ui.driver import TerminalDriver
from tori_tui.ui.messages import Beginning
from tori_tui.ui.themes import AUTO, DARK, LIGHT, ThemeSpec, load_theme, theme_directories

if TYPE_CHECKING:
    from tori_tui.bootstrap import SessionOptions, Surroundings
    from tori_tui.cli.context_pages import ContextPages
    from tori_tui.config import LoadedSettings, Settings
    from tori_tui.domain.ids import GoalId
    from tori_tui.domain.inspection import ContextPage
    from tori_tui.domain.state import SessionState
    from tori_tui.runtime.session import Session
    from tori_tui.ui.bridge import Bridge
    from tori_tui.ui.outside import Outside
    from tori_tui.ui.talk_ports import TalkPorts


GULP_S: Final = 0.004
"""Much less than lies between two drawings, and two pieces of a fast model's answer."""

DEMO_DELAY_S: Final = 0.02
"""Between the pieces of recorded replies, so that they stream as a model's do."""


def run_app(options: AppOptions, terminal: EarlyTerminal) -> int:
    """Run the app over a live session and return the exit code.

    Raises:
        ToriError: The theme, the configuration or the session does not allow it.
    """
    while True:
        loaded: list[LiveLaunch] = []
        app = make_app(
            partial(load_into, loaded, options), terminal, partial(choice_screen, options), welcome_screen
        )
        asyncio.run(app.run_async())
        if app.beginning is not None:
            options = begun(options, app.beginning)
            continue
        if app.chosen is None or app.crash is not None:
            return ended(app, loaded[0].directory if loaded else None, is_demo=options.is_demo)
        # What was asked for on the command line was meant for the session of then, and for a new one.
        is_meant = not loaded or app.chosen == NEW_SESSION
        kept = options if is_meant else replace(options, model=None, mode=None)
        options = replace(kept, resume=app.chosen or None, is_demo=False)


def load_into(loaded: list[LiveLaunch], options: AppOptions) -> Launch:
    """Load a session, and leave it where it is found after the app's end.

    Raises:
        ChoiceNeeded: More than one session may be meant.
        SetupNeeded: There is no model to begin with.
        ToriError: The configuration is wrong.
    """
    if options.resume:
        refuse_ambiguous(options, options.resume)
    loaded.append(load_live(options))
    return loaded[0]


def make_app(
    load: Callable[[], Launch],
    terminal: EarlyTerminal,
    sessions: Callable[[ThemeSpec, str, bool], Screen[str | None]] | None = None,
    welcome: Callable[[ThemeSpec, str], Screen[Beginning | None]] | None = None,
) -> ToriApp:
    """Return an app in the user's theme.

    Raises:
        ToriError: There is no such theme, or its file is wrong.
    """
    directories = theme_directories(os.environ)
    name = configured_theme(os.environ.get("XDG_CONFIG_HOME", ""), os.environ.get("HOME", ""))
    if name == AUTO:
        name = DARK if terminal.has_dark_background() else LIGHT
    theme = load_theme(name, directories)
    app = ToriApp(load, theme=theme, theme_directories=directories, sessions=sessions, welcome=welcome)
    TerminalDriver.early_input += terminal.take_input()
    TerminalDriver.keeps_input = False
    TerminalDriver.restore = terminal.restore
    return app


def configured_theme(config_home: str, home: str) -> str:
    """Return the theme that the user's configuration names; what is wrong in it is told later."""
    base = Path(config_home) if config_home.startswith("/") else Path(home or "/") / ".config"
    try:
        table = tomllib.loads((base / "tori" / "config.toml").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return AUTO
    theme = table.get("theme", AUTO)
    return theme if isinstance(theme, str) else AUTO


def ended(app: ToriApp, directory: Path | None, *, is_demo: bool = False) -> int:
    """Say on the way out what there is to say, and return the exit code.

    Raises:
        ToriError: That is why the app ended.
    """
    if isinstance(app.crash, ToriError):
        raise app.crash
    if directory is None and app.crash is None:
        return app.return_code or 0
    from tori_tui.cli.called_as import demo_left, resume_command

    if app.crash is not None:
        streams.write_err(crash_report(app.crash, directory, resume_command(directory) if directory else ""))
        return FAILED
    if directory is not None and is_demo:
        streams.write_err(demo_left(directory))
    elif directory is not None:
        streams.write_err(f"The session: {directory}\nGo on with it: {resume_command(directory)}\n")
    return app.return_code or 0


class LiveLaunch:
    """A session that will be opened, with its screen and bridge."""

    def __init__(self, bridge: Bridge, make: Callable[[ThemeSpec], Screen[None]]) -> None:
        self._bridge = bridge
        self._make = make

    @property
    def directory(self) -> Path | None:
        """Where the session lies, once something was said in it."""
        session = self._bridge.session
        return session.directory if session is not None and session.state.tree.missions else None

    def make_screen(self, theme: ThemeSpec) -> Screen[None]:
        """Return the session's screen."""
        return self._make(theme)

    def serve(self, post: Callable[[Message], object]) -> Awaitable[None]:
        """Open the session and hand on what happens."""
        return self._bridge.serve(post)

    def close(self) -> Awaitable[None]:
        """Wind the session down."""
        return self._bridge.close()


def load_live(options: AppOptions) -> LiveLaunch:
    """Load everything that a live session needs; runs in a thread.

    Raises:
        ToriError: The configuration is wrong.
    """
    import secrets

    from tori_tui.bootstrap import real_surroundings
    from tori_tui.cli.first_of_server import with_first_of_server
    from tori_tui.cli.model_choices import first_model
    from tori_tui.cli.replay_session import saved_records
    from tori_tui.cli.session_records import SessionRecords
    from tori_tui.providers.registry import is_unnamed
    from tori_tui.ui.bridge import Bridge
    from tori_tui.ui.palette import palette_of
    from tori_tui.ui.screens.session import SessionScreen

    settings, wanted, prompt = demo_session() if options.is_demo else asked_session(options)
    if is_unnamed(settings.settings.model, os.environ):
        settings = with_first_of_server(settings, os.environ)
    records = SessionRecords(saved_records)
    surroundings = real_surroundings(
        os.environ, replay_delay_s=DEMO_DELAY_S if options.is_demo else 0.0, gulp_s=GULP_S
    )
    bridge = Bridge(
        opener(settings, replace(wanted, note_record=records.note), surroundings),
        new_token=lambda: secrets.token_hex(4),
        read_records=records.before,
        # What the SDKs brought stays for good: a collection that walks it would stop a stream.
        on_prepared=gc.freeze,
    )
    if prompt:
        bridge.say(prompt)

    outside = _outside(bridge, settings.settings, wanted.cwd, surroundings)
    ports = _ports(bridge, settings.settings, wanted.cwd, surroundings)

    def make(theme: ThemeSpec) -> Screen[None]:
        screen = SessionScreen(
            palette_of(theme),
            bridge,
            outside,
            clock=time.monotonic,
            model=first_model(settings.settings, os.environ),
            mode=settings.settings.mode,
        )
        screen.connect(ports)
        return screen

    return LiveLaunch(bridge, make)


def _ports(bridge: Bridge, settings: Settings, cwd: Path, surroundings: Surroundings) -> TalkPorts:
    """Return where what stands beside the conversation comes from."""
    from tori_tui.cli.file_port import file_port
    from tori_tui.cli.model_choices import efforts_of, model_choices, model_sources
    from tori_tui.ui.talk_ports import TalkPorts
    from tori_tui.workspace.git_head import find_work_tree

    pages: list[ContextPages] = []

    def page(before: int) -> ContextPage | None:
        from tori_tui.cli.context_pages import ContextPages

        if not pages:  # what it needs is loaded when it is first looked at
            pages.append(ContextPages(directory, window_of(settings)))
        return pages[0].page(surroundings.clock.now())

    def directory() -> Path | None:
        return bridge.session.directory if bridge.session is not None else None

    return TalkPorts(
        page,
        models=lambda: model_choices(settings),
        model_sources=lambda: model_sources(settings, os.environ),
        switch_model=bridge.switch_model,
        efforts=efforts_of(settings),
        switch_effort=bridge.switch_effort,
        files=file_port(find_work_tree(cwd) or cwd, cwd),
    )


def _outside(bridge: Bridge, settings: Settings, cwd: Path, surroundings: Surroundings) -> Outside:
    """Return what the screen may see and use of the machine."""
    from tori_tui.cli.draft import KeptDraft
    from tori_tui.cli.history import History
    from tori_tui.config.agent_files import agent_names
    from tori_tui.config.command_files import own_commands
    from tori_tui.ui.notifying import notice_kind
    from tori_tui.ui.outside import Outside
    from tori_tui.workspace.file_names import list_files
    from tori_tui.workspace.git_head import find_work_tree, read_git_head
    from tori_tui.workspace.shown_images import clipboard_image, image_at

    root = find_work_tree(cwd)
    history = History(surroundings.state_dir / "history.jsonl", str(root or cwd))
    draft = KeptDraft(surroundings.state_dir / "drafts", str(root or cwd))
    return Outside(
        window_of=window_of(settings),
        branch=lambda: read_git_head(root).branch if root else "",
        history=history.load(),
        remember=history.add,
        draft=draft.take_over(),
        keep_draft=draft.keep,
        files=partial(list_files, cwd),
        sees_images=partial(sees_images, settings),
        has_vim_keys=settings.ui.vim,
        notice=notice_kind(settings.notify, os.environ),
        image=partial(image_at, cwd),
        clipboard_image=partial(clipboard_image, os.environ, root or cwd),
        agents=partial(agent_names, surroundings.config_dir, surroundings.state_dir, cwd),
        own_commands=partial(own_commands, surroundings.config_dir, surroundings.state_dir, cwd),
        goal_diff=partial(goal_diff, bridge, root or cwd),
        export=partial(export_page, bridge, cwd),
    )


def asked_session(options: AppOptions) -> tuple[LoadedSettings, SessionOptions, str]:
    """Return configuration and options of the session that the command line asked for."""
    from tori_tui.bootstrap import SessionOptions
    from tori_tui.cli.traces import working_directory
    from tori_tui.config import load_settings

    cwd = working_directory(options.directory)
    settings = load_settings(os.environ, cwd, model=options.model, mode=options.mode, sandbox=options.sandbox)
    if options.base_url and options.model:
        settings = with_server(settings, options.model, options.base_url)
    elif options.resume is None:
        refuse_without_model(settings.settings)
    wanted = SessionOptions(
        cwd=cwd,
        model=options.model,
        mode=settings.settings.mode if options.mode else None,
        trace_dir=options.trace_dir,
        resume=options.resume,
        has_user=True,
    )
    return settings, wanted, ""


def demo_session() -> tuple[LoadedSettings, SessionOptions, str]:
    """Return configuration, options and mission of the demo."""
    from dataclasses import replace
    from importlib.resources import as_file, files

    from tori_tui.bootstrap import SessionOptions
    from tori_tui.cli.demo_session import MISSION, new_project
    from tori_tui.config import LoadedSettings, Settings

    with as_file(files("tori_tui.demo") / "replies.toml") as replies:
        settings = replace(Settings(), model=f"replay/{replies}", mode="auto")
    wanted = SessionOptions(cwd=new_project(), model=settings.model, mode="auto", has_user=True)
    return LoadedSettings(settings, {}), wanted, MISSION


def goal_diff(bridge: Bridge, root: Path, state: SessionState, goal_id: GoalId) -> str:
    """Return what the agent changed for a goal; runs in a thread.

    Raises:
        ToriError: There are no checkpoints.
    """
    from tori_tui.cli.diff_trace import SavedTrace, changes_of, shadow_of
    from tori_tui.workspace.goal_changes import layer_diff

    if bridge.session is None:
        return ""
    saved = SavedTrace(bridge.session.trace_id, state, root, shadow_of(root))
    with saved.shadow.locked():
        return "".join(layer_diff(saved.shadow, layer) for layer in changes_of(saved, goal_id))


def export_page(bridge: Bridge, cwd: Path, form: str, path: str) -> str:
    """Write the session as a page and return where it is, in words; runs in a thread.

    Raises:
        ToriError: Nothing was said in it yet, or the file cannot be written.
    """
    from tori_tui.cli.export_trace import FORMS, export_session

    session = bridge.session
    if session is None or not session.state.tree.missions:
        raise UsageError("Nothing was said in this session yet.")
    return export_session(session.directory, FORMS[form], path, cwd)


def window_of(settings: Settings) -> Callable[[str], int]:
    """Return what tells a model's context window."""
    from tori_tui.providers.catalogue import profile_for

    def window(model: str) -> int:
        own = settings.models.get(model)
        known = own.window_tokens if own else None
        return known or settings.context.window_tokens or profile_for(model).window_tokens

    return window


def sees_images(settings: Settings, model: str) -> bool:
    """Say whether a model takes images, as far as that is known."""
    from tori_tui.providers.catalogue import profile_for

    own = settings.models.get(model)
    return own.vision if own is not None and own.vision is not None else profile_for(model).vision


def opener(
    settings: LoadedSettings, options: SessionOptions, surroundings: Surroundings
) -> Callable[[], Awaitable[Session]]:
    """Return what opens the session, its notices told with those of the configuration."""
    from tori_tui.bootstrap import open_session
    from tori_tui.cli.resumed_switches import resumed_switches

    async def open_it() -> Session:
        session = await open_session(settings.settings, options, surroundings)
        session.notices = (*settings.notices, *session.notices)
        for switch in resumed_switches(session.state, options.model, options.mode or settings.settings.mode):
            session.send(switch)
        # A resumed session stays for good: a collection that walks it would stop the drawing.
        gc.freeze()
        return session

    return open_it


__all__ = ["LiveLaunch", "configured_theme", "ended", "load_live", "make_app", "run_app"]
