from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.app import App
from textual.widgets import Input, OptionList, Static

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

    def entries(self) -> Sequence[TraceEntry]:
        return self.rows

    def rename(self, path: Path, name: str) -> None:
        if name == "taken":
            raise ToriError("It is taken.")
        self.rows = [replace(row, name=name) if row.path == path else row for row in self.rows]

    def port(self) -> SessionsPort:
        return SessionsPort(self.entries, self.rename, self.open.__contains__, lambda: NOW)


class Choosing(App[str]):
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
