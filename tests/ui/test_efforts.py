from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.cli.model_choices import efforts_of, first_model
from tori_tui.config import Settings
from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.events import ContextChanged
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.request import Effort
from tori_tui.ui.screens.efforts import EffortsScreen
from tori_tui.ui.talk_ports import TalkPorts


def ports(switched: list[EffortChoice], *efforts: Effort) -> TalkPorts:
    return TalkPorts(efforts=lambda _: efforts, switch_effort=switched.append)


@asynccontextmanager
async def thinking(*efforts: Effort) -> AsyncIterator[tuple[Stage, Pilot[None], list[EffortChoice]]]:
    async with live(scenes.working_session()) as (stage, pilot):
        switched: list[EffortChoice] = []
        stage.screen.connect(ports(switched, *efforts))
        yield stage, pilot, switched


async def test_a_list_of_what_the_model_takes_begins_at_the_effort_in_force() -> None:
    async with thinking("low", "medium", "high") as (stage, pilot, switched):
        stage.session.emit(ContextChanged(MAIN_CONTEXT, "configured", effort="medium"))
        await pilot.pause()
        assert "sonnet-5 (medium)" in stage.screen.status_line.render_line(0).text
        await pilot.press(*"/effort", "enter")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, EffortsScreen)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert switched == ["high"]
        await pilot.press(*"/effort", "enter")
        await pilot.pause(0.1)
        await pilot.press("escape")
        await pilot.pause()
        assert switched == ["high"]


async def test_an_effort_that_is_typed_is_passed_on_and_what_the_model_does_not_take_is_told() -> None:
    async with thinking("low", "high") as (stage, pilot, switched):
        await pilot.press(*"/effort low", "enter")
        await pilot.press(*"/effort max", "enter")
        await pilot.press(*"/effort much", "enter")
        await pilot.pause()
        assert switched == ["low", "max"]
        shown = "\n".join(stage.screen.transcript.shown_text)
        assert "takes low, high" in shown
        assert "'much' is no effort" in shown


async def test_a_model_of_which_no_effort_is_known_shows_what_to_write() -> None:
    async with thinking() as (stage, pilot, switched):
        stage.session.emit(ContextChanged(MAIN_CONTEXT, "configured", effort="high"))
        await pilot.press(*"/effort", "enter")
        await pilot.pause()
        assert switched == []
        assert "(high)" not in stage.screen.status_line.render_line(0).text
        assert 'efforts = ["low", "medium", "high"]' in " ".join(stage.screen.transcript.shown_text)


def test_what_a_model_takes_comes_from_the_catalogue_and_the_first_model_from_the_keys() -> None:
    efforts = efforts_of(Settings())
    assert efforts("anthropic/claude-sonnet-5-5") == ("low", "medium", "high", "max")
    assert efforts("openai-chat/own") == efforts("no/such") == ()
    assert first_model(Settings(), {"ANTHROPIC_API_KEY": "x"}).startswith("anthropic/")
    assert first_model(Settings(), {}) == ""


@pytest.mark.parametrize(("theme", "size"), [("light", WIDE), ("dark", SMALL)], ids=["light", "dark-small"])
def test_how_the_efforts_look(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.screen.connect(ports([], "low", "medium", "high", "max"))
        stage.session.emit(*scenes.working_session())
        stage.session.emit(ContextChanged(MAIN_CONTEXT, "configured", effort="high"))
        await pilot.press(*"/effort", "enter")
        await pilot.pause(0.2)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
