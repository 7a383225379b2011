from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList, Static

from tests.ui.test_pictures import SMALL, WIDE, Compare
from tori_tui.domain.errors import UsageError
from tori_tui.ui.app import ToriApp
from tori_tui.ui.messages import Beginning, SetupNeeded
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.welcome import FirstSteps, WelcomeScreen
from tori_tui.ui.talk_ports import ModelChoice, ModelSource, NobodyListens
from tori_tui.ui.themes import ThemeSpec, load_theme, theme_directories

REASON = "No model: set ANTHROPIC_API_KEY or OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own)."


def nobody() -> NoReturn:
    raise NobodyListens("refused")


def broken() -> NoReturn:
    raise UsageError("The provider answered 500: out of memory")


def listing(*names: str) -> Callable[[], Sequence[ModelChoice]]:
    return lambda: tuple(ModelChoice(name, is_listed=True) for name in names)


OLLAMA = ModelSource(
    "Ollama 127.0.0.1:11434",
    listing("openai-chat/qwen3-coder:30b", "openai-chat/通义千问"),
    "http://127.0.0.1:11434/v1",
)
OTHERS = (
    ModelSource("LM Studio 127.0.0.1:1234", nobody),
    ModelSource("vLLM 127.0.0.1:8000", broken),
    ModelSource("llama.cpp 127.0.0.1:8080", nobody),
)


class FirstRun(ToriApp):
    """The app of somebody without a model."""

    def __init__(self, *sources: ModelSource, theme: str = "dark") -> None:
        self.sources = sources
        self.n_looks = 0
        directories = theme_directories({"HOME": "/nonexistent"})
        super().__init__(self.no_model, theme=load_theme(theme, directories), welcome=self.welcome)

    def no_model(self) -> NoReturn:
        raise SetupNeeded(REASON)

    def welcome(self, theme: ThemeSpec, reason: str) -> Screen[Beginning | None]:
        return WelcomeScreen(palette_of(theme), FirstSteps(reason, "~/.config/tori/config.toml", self.look))

    def look(self) -> Sequence[ModelSource]:
        self.n_looks += 1
        return self.sources


async def there(app: ToriApp, pilot: Pilot[None]) -> OptionList:
    for _ in range(200):
        await pilot.pause(0.01)
        if isinstance(app.screen, WelcomeScreen):
            break
    await pilot.pause(0.1)
    return app.screen.query_one(OptionList)


def told(app: ToriApp) -> str:
    return "\n".join(str(part.render()) for part in app.screen.query(Static))


async def test_a_model_that_was_found_is_begun_with_and_everything_that_helps_is_said() -> None:
    app = FirstRun(OLLAMA, *OTHERS)
    async with app.run_test(size=WIDE) as pilot:
        rows = await there(app, pilot)
        shown = told(app)
        for text in (
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY=",
            "OPENAI_BASE_URL=",
            "key_command",
            "config.toml",
        ):
            assert text in shown
        assert "nobody listens at LM Studio 127.0.0.1:1234 · llama.cpp 127.0.0.1:8080" in shown
        assert "vLLM 127.0.0.1:8000: The provider answered 500" in shown
        assert (rows.option_count, rows.highlighted) == (4, 0)
        await pilot.press("down", "enter")
        await pilot.pause(0.1)
    assert app.beginning == Beginning("openai-chat/通义千问", "http://127.0.0.1:11434/v1")
    assert app.return_code == 0


async def test_what_is_found_late_moves_no_mark_that_the_user_has_set() -> None:
    release = threading.Event()

    def late() -> Sequence[ModelChoice]:
        release.wait(5)
        return OLLAMA.ask()

    app = FirstRun(ModelSource("Ollama", late, "http://127.0.0.1:11434/v1"))
    async with app.run_test(size=SMALL) as pilot:
        rows = await there(app, pilot)
        assert "asking Ollama" in told(app)
        await pilot.press("down", "up")
        release.set()
        for _ in range(100):
            await pilot.pause(0.02)
            if rows.option_count == 4:
                break
        assert rows.highlighted == 2
        await pilot.press("enter")
        await pilot.pause(0.1)
    assert app.beginning == Beginning(is_demo=True)


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c", "ctrl+q"])
async def test_leaving_is_clean_and_begins_nothing(key: str) -> None:
    app = FirstRun(*OTHERS)
    async with app.run_test(size=SMALL) as pilot:
        rows = await there(app, pilot)
        await pilot.press("r", "down", "enter")
        await pilot.pause(0.1)
        assert (app.n_looks, rows.option_count) == (3, 2)
        await pilot.press(key)
        await pilot.pause(0.1)
    assert (app.beginning, app.return_code, app.crash) == (None, 0, None)


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light-small"])
def test_how_the_first_screen_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    app = FirstRun(OLLAMA, *OTHERS, theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await there(app, pilot)

    assert snap_compare(app, terminal_size=size, run_before=play)
