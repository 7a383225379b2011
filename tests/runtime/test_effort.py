from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.session import WITHOUT_CLASSIFIER, Driver, driven, records_of, reply
from tests.wire.answers import WireReply, in_order
from tests.wire.server import WireServer
from tori_tui.bootstrap import SessionOptions, open_session, real_surroundings
from tori_tui.config.settings import ModelSettings
from tori_tui.config.surroundings import Surroundings
from tori_tui.domain.commands import SwitchEffort, SwitchMode, SwitchModel
from tori_tui.domain.events import ContextChanged
from tori_tui.domain.state import reduce_all

MODELS = {
    "chat": "openai-chat/own",
    "responses": "openai/gpt-6.1-sol",
    "messages": "anthropic/claude-sonnet-5-5",
}

OWN = {"openai-chat/own": ModelSettings(efforts=("low", "high", "max"))}

SETTINGS = replace(WITHOUT_CLASSIFIER, models=OWN)


def told(protocol: str, body: Mapping[str, Any]) -> object:
    """What a request says about effort."""
    match protocol:
        case "chat":
            return body.get("reasoning_effort")
        case "responses":
            return body["reasoning"].get("effort")
        case _:
            return body.get("output_config", {}).get("effort")


def world(server: WireServer, home: Path) -> Surroundings:
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home / "s"), "XDG_CONFIG_HOME": str(home / "c")}
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "PATH": "/usr/bin:/bin"}
    addresses = {"OPENAI_BASE_URL": server.openai_url, "ANTHROPIC_BASE_URL": server.url}
    return real_surroundings({**places, **keys, **addresses})


@pytest.mark.parametrize("protocol", MODELS)
async def test_an_effort_holds_from_the_next_request_on_until_it_is_taken_back(
    tmp_path: Path, protocol: str
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    async with WireServer(in_order(*(WireReply(f"answer {n}") for n in range(4)))) as server:
        options = SessionOptions(cwd=place, model=MODELS[protocol], mode="auto")
        session = await open_session(SETTINGS, options, world(server, tmp_path / "home"))
        driver = Driver(session, session.subscribe())
        serving = asyncio.create_task(session.run())
        await driver.run("one")
        session.send(SwitchEffort("high"))
        await driver.run("two")
        session.send(SwitchEffort("max"))
        await driver.run("three")
        session.send(SwitchEffort("default"))
        state = await driver.run("four")
        await session.close()
        await serving
        said = [told(protocol, request.body) for request in server.requests]
        assert server.violations == []
    most = "max" if protocol == "messages" else "xhigh"
    assert said == [None, "high", most, None]
    assert state.effort == ""
    assert reduce_all(records_of(session.directory)) == session.state


async def test_effort_and_model_that_are_switched_before_the_first_run_hold_in_it(
    tmp_path: Path,
) -> None:
    async with driven([reply("one"), reply("two")], tmp_path) as driver:
        driver.session.send(SwitchEffort("low"))
        driver.session.send(SwitchModel("openai-chat/other"))
        driver.session.send(SwitchMode("plan"))
        state = await driver.run("go")
        changes = [event for event in driver.events if isinstance(event, ContextChanged)]
    assert [(change.effort, change.model) for change in changes] == [
        ("low", ""),
        ("", "openai-chat/other"),
        ("", ""),
    ]
    assert (state.effort, state.model, state.mode) == ("low", "openai-chat/other", "plan")
