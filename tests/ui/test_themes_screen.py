from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.ui.screens.themes import ThemesScreen
from tori_tui.ui.themes import theme_names


@asynccontextmanager
async def choosing() -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    async with live(scenes.working_session()) as (stage, pilot):
        await pilot.press(*"/theme", "enter")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, ThemesScreen)
        yield stage, pilot


async def test_the_theme_under_the_cursor_is_shown_everywhere_at_once() -> None:
    async with choosing() as (stage, pilot):
        before = stage.screen.transcript._slots.palette
        names = theme_names(stage.directories)
        await pilot.press("down")
        await pilot.pause(0.1)
        assert stage.app.theme == f"tori-{names[names.index('dark') + 1]}"
        assert stage.screen.transcript._slots.palette != before
        assert stage.screen.transcript.shown_text


async def test_a_named_theme_is_used_at_once() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"/theme sky", "enter")
        await pilot.pause(0.2)
        assert stage.app.theme == "tori-sky"
        await pilot.press(*"/theme skies", "enter")
        await pilot.pause(0.2)
        assert stage.app.theme == "tori-sky"
        (told,) = stage.app._notifications
        assert "no theme 'skies'" in told.message


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_going_back_brings_the_first_theme_back(key: str) -> None:
    async with choosing() as (stage, pilot):
        await pilot.press("down", "j", "k", key)
        await pilot.pause(0.1)
        assert stage.app.theme == "tori-dark"
        assert not isinstance(stage.app.screen, ThemesScreen)
        assert not any("Theme" in line for line in stage.screen.transcript.shown_text)


async def test_enter_keeps_a_theme_and_tells_how_to_keep_it_for_good() -> None:
    async with choosing() as (stage, pilot):
        await pilot.press("end", "enter")
        await pilot.pause(0.1)
        assert stage.app.theme == "tori-sky"
        said = " ".join(line.strip() for line in stage.screen.transcript.shown_text)
        assert 'theme = "sky" into config.toml' in said


async def test_the_palette_offers_the_themes() -> None:
    async with live() as (stage, pilot):
        command = next(c for c in stage.screen.commands() if c.title.startswith("Themes"))
        command.callback()
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, ThemesScreen)


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light-small"])
def test_the_list_of_themes(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        await pilot.press(*"/theme", "enter")
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)


@pytest.mark.parametrize("theme", ["ember", "forest", "paper", "sky", "contrast"])
def test_a_session_in_every_theme(snap_compare: Compare, theme: str) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        await pilot.pause(0.1)
        stage.clock.now_s += 1.3
        stage.screen._tick()
        await pilot.press("f6", "down")
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=WIDE, run_before=play)
