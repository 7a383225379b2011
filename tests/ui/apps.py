"""Small apps over a fake session, for pilots and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from textual.message import Message

from tests.ui.fakes import FakeClock, FakeSession
from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import DurableEvent, Record
from tori_tui.domain.ids import Seq
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.domain.shown_image import ShownImage
from tori_tui.ui.app import ToriApp
from tori_tui.ui.bridge import Bridge, SessionPort
from tori_tui.ui.outside import FindFiles, Outside, no_files
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.session import SessionScreen
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.themes import ThemeSpec, load_theme, theme_directories


class Stage:
    """An app with its fake session, in reach of a test."""

    def __init__(
        self,
        events: Iterable[DurableEvent] = (),
        *,
        theme: str = "dark",
        history: tuple[str, ...] = (),
        session: FakeSession | None = None,
        records: Sequence[Record] = (),
        read_records: Callable[[Path, Seq], Sequence[Record]] | None = None,
        files: FindFiles = no_files,
        image: Callable[[str], ShownImage | None] = lambda _: None,
        has_vim_keys: bool = False,
        draft: str = "",
    ) -> None:
        self.clock = FakeClock()
        self.events = tuple(events)
        self._session = session
        self.remembered: list[str] = []
        self.drafts: list[str] = []
        self._draft = draft
        self.agents: tuple[str, ...] = ()
        self.own_commands: tuple[OwnCommand, ...] = ()
        self.diffs: dict[str, str] = {}
        self.directories = theme_directories({"HOME": "/nonexistent"})
        tokens: Iterator[int] = count(1)
        self.bridge = Bridge(
            self._open,
            new_token=lambda: f"t{next(tokens)}",
            read_records=read_records or (lambda directory, before: records),
        )
        self._history = history
        self._files = files
        self._image = image
        self._has_vim_keys = has_vim_keys
        self.clipboard: ShownImage | None = None
        self.sees_images = True
        self.app = ToriApp(
            lambda: self,
            theme=load_theme(theme, self.directories),
            theme_directories=self.directories,
        )

    async def _open(self) -> SessionPort:
        self._session = self._session or FakeSession(self.events)
        return self._session

    def _export(self, form: str, path: str) -> str:
        if path == "/":
            raise UsageError("/ is a folder.", "Name a file in it.")
        return f"The session as a page: {path or 'trace'}.{form}"

    def _clipboard_image(self) -> ShownImage:
        if self.clipboard is None:
            raise UsageError("The clipboard holds no image.", "Copy one.")
        return self.clipboard

    def make_screen(self, theme: ThemeSpec) -> TalkScreen:
        return SessionScreen(
            palette_of(theme),
            self.bridge,
            Outside(
                window_of=lambda _: 200_000,
                branch=lambda: "main",
                history=self._history,
                remember=self.remembered.append,
                draft=self._draft,
                keep_draft=self.drafts.append,
                agents=lambda: self.agents,
                own_commands=lambda: self.own_commands,
                files=self._files,
                image=self._image,
                sees_images=lambda _: self.sees_images,
                has_vim_keys=self._has_vim_keys,
                clipboard_image=self._clipboard_image,
                goal_diff=lambda _, goal_id: self.diffs.get(goal_id, ""),
                export=self._export,
            ),
            clock=self.clock,
            model="replay/x",
            mode="ask",
        )

    async def serve(self, post: Callable[[Message], object]) -> None:
        await self.bridge.serve(post)

    async def close(self) -> None:
        await self.bridge.close()

    @property
    def session(self) -> FakeSession:
        assert self._session is not None
        return self._session

    @property
    def screen(self) -> SessionScreen:
        screen = self.app._talk
        assert isinstance(screen, SessionScreen)
        return screen
