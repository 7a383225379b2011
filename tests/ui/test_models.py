from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.cli.model_choices import model_choices
from tori_tui.config import Settings
from tori_tui.domain.errors import UsageError
from tori_tui.ui.screens.models import ModelsScreen
from tori_tui.ui.talk_ports import ModelChoice, ModelSource, TalkPorts

CHOICES = (
    ModelChoice("openai-chat/qwen3-coder", 131_072, is_configured=True),
    ModelChoice("anthropic/claude-sonnet-5", 200_000, 3.0, 15.0),
    ModelChoice("openai/gpt-6-mini", 400_000, 0.25, 2.0),
)


@asynccontextmanager
async def choosing() -> AsyncIterator[tuple[Stage, Pilot[None], list[str]]]:
    async with live(scenes.working_session()) as (stage, pilot):
        switched: list[str] = []
        stage.screen.connect(TalkPorts(models=lambda: CHOICES, switch_model=switched.append))
        await pilot.press(*"/model", "enter")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, ModelsScreen)
        yield stage, pilot, switched


async def test_the_list_begins_at_the_model_in_use_and_enter_switches() -> None:
    async with choosing() as (stage, pilot, switched):
        assert stage.app.screen.query_one(OptionList).highlighted == 1
        await pilot.press("down", "enter")
        await pilot.pause()
        assert switched == ["openai/gpt-6-mini"]


async def test_typing_filters_and_escape_switches_nothing() -> None:
    async with choosing() as (stage, pilot, switched):
        await pilot.press(*"qwen")
        await pilot.pause()
        assert stage.app.screen.query_one(OptionList).option_count == 1
        await pilot.press("escape")
        await pilot.pause()
        assert switched == []
        assert not isinstance(stage.app.screen, ModelsScreen)


async def test_a_model_that_is_in_no_list_is_typed_whole() -> None:
    async with choosing() as (_, pilot, switched):
        await pilot.press(*"openai-chat/my/own", "enter")
        await pilot.pause()
        assert switched == ["openai-chat/my/own"]


def failing() -> Sequence[ModelChoice]:
    raise UsageError("No connection to http://127.0.0.1:1234/v1: refused.")


async def test_what_servers_list_comes_in_while_the_list_is_used_and_errors_are_told() -> None:
    release = threading.Event()

    def listed() -> Sequence[ModelChoice]:
        release.wait(5)
        return (ModelChoice("openai-chat/llama3", is_listed=True), replace(CHOICES[2], is_listed=True))

    sources = (ModelSource("127.0.0.1:8080", listed), ModelSource("127.0.0.1:1234", failing))
    async with live(scenes.working_session()) as (stage, pilot):
        switched: list[str] = []
        stage.screen.connect(
            TalkPorts(models=lambda: CHOICES, switch_model=switched.append, model_sources=lambda: sources)
        )
        await pilot.press(*"/model", "enter")
        await pilot.pause(0.2)
        foot, names = stage.app.screen.query_one("#models-foot"), stage.app.screen.query_one(OptionList)
        assert "asking 127.0.0.1:8080" in str(foot.render())
        assert "127.0.0.1:1234: No connection" in str(foot.render())
        await pilot.press("down")
        release.set()
        for _ in range(100):
            await pilot.pause(0.02)
            if names.option_count == 4:
                break
        assert "127.0.0.1:8080 lists 2 models" in str(foot.render())
        order = [str(names.get_option_at_index(n).prompt).split()[:2] for n in range(4)]
        assert [row[-1].rpartition("/")[2] for row in order] == [
            "qwen3-coder",
            "gpt-6-mini",
            "llama3",
            "claude-sonnet-5",
        ]
        await pilot.press(*"llama", "enter")
        await pilot.pause()
        assert switched == ["openai-chat/llama3"]


def test_the_user_s_own_models_come_first_and_each_once() -> None:
    choices = model_choices(
        Settings(model="openai-chat/own", fallback_models=("anthropic/claude-haiku-4-5",))
    )
    names = [choice.name for choice in choices]
    assert names[:2] == ["openai-chat/own", "anthropic/claude-haiku-4-5"]
    assert len(names) == len(set(names))
    assert [choice.is_configured for choice in choices[:3]] == [True, True, False]
    assert choices[1].input_usd == 1.0
    assert choices[0].window_tokens == 0


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light-small"])
def test_how_the_list_of_models_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        listed = ModelSource("127.0.0.1:8080", lambda: (ModelChoice("openai-chat/通义千问", is_listed=True),))
        sources = (listed, ModelSource("127.0.0.1:1234", failing))
        stage.screen.connect(TalkPorts(models=lambda: CHOICES, model_sources=lambda: sources))
        await pilot.press(*"/model", "enter")
        await pilot.pause(0.2)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
