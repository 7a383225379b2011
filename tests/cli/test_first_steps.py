from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wire.answers import WireReply, by_history
from tests.wire.server import WireServer
from tori_tui.cli.app import AppOptions
from tori_tui.cli.first_steps import begun, local_source, refuse_without_model, with_server
from tori_tui.config import LoadedSettings, Settings
from tori_tui.config.settings import ProviderSettings
from tori_tui.config.translate import provider_settings
from tori_tui.providers.listing import local_servers
from tori_tui.ui.messages import Beginning, SetupNeeded
from tori_tui.ui.talk_ports import NobodyListens

KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)
OWN = {"openai-chat": ProviderSettings(base_url="http://127.0.0.1:8080/v1")}


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(), "No model"),
        (Settings(model="anthropic/claude-sonnet-5-5"), "No key: set ANTHROPIC_API_KEY"),
        (Settings(model="openai-chat/x"), "No key: set OPENAI_API_KEY"),
    ],
)
def test_without_a_model_or_its_key_the_first_steps_are_shown(settings: Settings, reason: str) -> None:
    with pytest.raises(SetupNeeded, match=reason):
        refuse_without_model(settings)


@pytest.mark.parametrize(
    "settings",
    [Settings(model="replay/x.toml"), Settings(model="openai-chat/x", providers=OWN)],
)
def test_with_a_server_or_recorded_replies_they_are_not(settings: Settings) -> None:
    refuse_without_model(settings)


def test_a_key_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    refuse_without_model(Settings())


def test_what_was_chosen_holds_for_the_run_and_how_to_keep_it_is_told() -> None:
    options = AppOptions(Path())
    assert begun(options, Beginning(is_demo=True)) == replace(options, is_demo=True)
    url = "http://127.0.0.1:11434/v1"
    chosen = begun(options, Beginning("openai-chat/llama3", url))
    assert (chosen.model, chosen.base_url) == ("openai-chat/llama3", url)
    loaded = with_server(LoadedSettings(Settings(), {}), "openai-chat/llama3", url)
    assert provider_settings(loaded.settings, "openai-chat").base_url == url
    refuse_without_model(loaded.settings)
    assert f'base_url = "{url}"' in loaded.notices[0]


async def test_a_usual_place_is_asked_and_an_empty_one_is_no_error_of_the_servers() -> None:
    async with WireServer(by_history(WireReply("x")), models=("llama3",)) as server:
        port = int(server.url.rpartition(":")[2])
        (local,) = local_servers({port: "Ollama"})
        source = local_source(local, Settings())
        assert (source.name, source.base_url) == (f"Ollama 127.0.0.1:{port}", server.openai_url)
        assert [choice.name for choice in await asyncio.to_thread(source.ask)] == ["openai-chat/llama3"]
    (empty,) = local_servers({9: "nobody"})
    with pytest.raises(NobodyListens):
        await asyncio.to_thread(local_source(empty, Settings()).ask)
