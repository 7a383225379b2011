from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from tests.ui.test_pictures import Compare
from tori_tui.domain.errors import ToriError
from tori_tui.domain.ids import TraceId
from tori_tui.trace.catalog import TraceEntry
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.sessions import SessionsPort, SessionsScreen
from tori_tui.ui.themes import load_theme, textual_theme, theme_directories

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
THEME = load_theme("dark", theme_directories({"HOME": "/nonexistent"}))


def entry(number: int, mission: str, name: str = "", status: str = "done") -> TraceEntry:
    trace_id = TraceId(f"20261130-10150{number}-a3f{number}")
    return TraceEntry(
        id=trace_id,
        path=Path("/traces") / trace_id,
        mission=mission,
        n_missions=1,
        status=status,
        model="m",
        cost_usd=0.5,
        created_at=NOW,
        updated_at=NOW - timedelta(hours=number),
        name=name,
        n_turns=number,
    )


class World:
    def __init__(self) -> None:
        self.rows = [
            entry(1, "Mend the login"),
            entry(2, "Write [b]docs[/b] \x1b[31m", name="manual"),
            entry(3, "Draw the login page", status="interrupted"),
        ]
        self.open: set[Path] = set()
        self.gone: list[TraceEntry] = []
        self.unreadable = Path()
        self.may_fork = Event()
        self.may_fork.set()

    def entries(self) -> Sequence[TraceEntry]:
        return self.rows

    def rename(self, path: Path, name: str) -> None:
        if name == "taken":
            raise ToriError("It is taken.")
        self.rows = [replace(row, name=name) if row.path == path else row for row in self.rows]

    def port(self) -> SessionsPort:
        return SessionsPort(
            self.entries,
            self.rename,
            self.open.__contains__,
            lambda: NOW,
            self.fork,
            self.trash,
            self.restore,
        )

    def fork(self, path: Path) -> str:
        assert self.may_fork.wait(10)
        if path == self.unreadable:
            raise ToriError("It cannot be read.")
        row = next(row for row in self.rows if row.path == path)
        self.rows = [replace(entry(9, row.mission), updated_at=NOW), *self.rows]
        return self.rows[0].id

    def trash(self, path: Path) -> Path:
        self.gone = [row for row in self.rows if row.path == path]
        self.rows = [row for row in self.rows if row.path != path]
        return path.parent / ".trash" / path.name

    def restore(self, trashed: Path) -> Path:
        self.rows = [*self.rows, *self.gone]
        return trashed.parent.parent / trashed.name


class Choosing(App[None]):
    CSS_PATH = Path(__file__).parents[2] / "tori_tui/ui/screens/talk.tcss"

    def __init__(self, world: World, words: str = "") -> None:
        super().__init__()
        self.world = world
        self.words = words
        self.choice: list[str | None] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(textual_theme(THEME).variables)

    def on_mount(self) -> None:
        screen = SessionsScreen(palette_of(THEME), self.world.port(), words=self.words, is_busy=False)
        self.push_screen(screen, self.choice.append)

    @property
    def lines(self) -> list[str]:
        options = self.screen.query_one(OptionList)
        return [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]

    @property
    def foot(self) -> str:
        return str(self.screen.query_one("#sessions-foot", Static).content)


@pytest.fixture
def world() -> World:
    return World()


async def test_every_session_stands_in_a_line_with_what_it_came_to(world: World) -> None:
    app = Choosing(world)
    async with app.run_test(size=(120, 30)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.lines[0].split() == ["1h", "ago", "done", "1", "turn", "$0.50", "Mend", "the", "login"]
        assert "manual · Write [b]docs[/b]" in app.lines[1]
        assert "\x1b" not in "".join(app.lines)
        assert app.foot == "3 of 3 sessions."


async def test_typing_filters_and_enter_opens(world: World) -> None:
    app = Choosing(world)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.press(*"login")
        await pilot.pause()
        assert len(app.lines) == 2
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.choice == [world.rows[2].id]


async def test_words_of_the_command_line_stand_in_the_filter(world: World) -> None:
    app = Choosing(world, "20261130-101502")
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert len(app.lines) == 1
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert app.choice == [None]


async def test_nothing_opens_where_nothing_fits_or_it_is_open_elsewhere(world: World) -> None:
    world.open.add(world.rows[0].path)
    app = Choosing(world)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("enter")
        await pilot.pause()
        assert "is open already" in app.foot
        await pilot.press(*"zzz", "enter")
        await pilot.pause()
        assert app.lines == []
        assert app.choice == []


async def test_a_session_gets_another_name(world: World) -> None:
    app = Choosing(world)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("down", "ctrl+r")
        assert app.screen.query_one(Input).value == "manual"
        await pilot.press("escape")
        assert app.screen.query_one(Input).value == ""
        await pilot.press("ctrl+r", *"2", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert world.rows[1].name == "manual2"
        assert "manual2 · Write" in app.lines[1]
        await pilot.press("ctrl+r", *["backspace"] * 8, *"taken", "enter")
        await pilot.pause()
        assert app.foot == "It is taken."


async def test_it_fits_into_a_small_terminal(world: World) -> None:
    app = Choosing(world)
    async with app.run_test(size=(20, 6)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("pagedown", "pageup", "enter")
        await pilot.pause()
        assert app.choice == [world.rows[0].id]


async def settle(app: Choosing, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()


async def test_a_fork_begins_where_the_session_stands_and_is_marked(world: World) -> None:
    app = Choosing(world)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(app, pilot)
        await pilot.press("down", "down", "ctrl+f")
        await settle(app, pilot)
        assert len(app.lines) == 4
        assert app.foot.startswith(f"Forked: {world.rows[0].id} begins where {world.rows[3].id} stands.")
        await pilot.press("enter")
        await pilot.pause()
        assert app.choice == [world.rows[0].id]


async def test_a_fork_that_fails_says_why(world: World) -> None:
    world.unreadable = world.rows[0].path
    app = Choosing(world)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(app, pilot)
        await pilot.press("ctrl+f")
        await settle(app, pilot)
        assert app.foot == "It cannot be read."
        assert len(app.lines) == 3


@pytest.mark.parametrize("key", ["ctrl+d", "delete"])
async def test_a_deleted_session_leaves_the_list_and_comes_back(world: World, key: str) -> None:
    app = Choosing(world)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(app, pilot)
        await pilot.press("down", key)
        await settle(app, pilot)
        assert len(app.lines) == 2
        assert "lies in /traces/.trash now. Ctrl+Z takes it back." in app.foot
        await pilot.press("ctrl+z")
        await settle(app, pilot)
        assert len(app.lines) == 3
        assert app.foot == f"{world.rows[2].id} is back."
        await pilot.press("ctrl+z")
        assert app.foot == "Nothing was deleted here."


async def test_an_open_session_is_never_deleted(world: World) -> None:
    world.open.add(world.rows[0].path)
    app = Choosing(world)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(app, pilot)
        await pilot.press("ctrl+d")
        await settle(app, pilot)
        assert len(app.lines) == 3
        assert "only a closed session can be deleted" in app.foot


@pytest.mark.parametrize("size", [(120, 30), (80, 24)], ids=["wide", "small"])
def test_how_the_list_looks(world: World, snap_compare: Compare, size: tuple[int, int]) -> None:
    world.rows.append(entry(4, "修复登录页面，并为每个端点写测试"))
    app = Choosing(world)

    async def play(pilot: Pilot[None]) -> None:
        await app.workers.wait_for_complete()
        await pilot.press("down", "ctrl+d")
        await app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)


async def test_while_a_long_session_is_forked_the_wait_is_seen_and_keys_are_taken(world: World) -> None:
    app = Choosing(world)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        world.may_fork.clear()
        await pilot.press("ctrl+f", "ctrl+f", "ctrl+d", "enter")
        assert app.foot == "⟳ Forking …"
        await pilot.press(*"mend")
        assert len(app.lines) == 1
        world.may_fork.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.foot.startswith("Forked: ")
        assert len(world.rows) == 4
        assert app.choice == []
