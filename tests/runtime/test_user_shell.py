from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.fakes.session import PLANTED_KEY, Driver, driven, records_of, reply
from tori_tui.domain.commands import InterruptRun, RunShell
from tori_tui.domain.events import CallStarted, MessageAdded, ToolOutputStreamed, ToolRunStarted
from tori_tui.domain.messages import SHELL, Message
from tori_tui.domain.state import reduce_all


async def ended(driver: Driver) -> Message:
    while True:
        event = await driver.until(MessageAdded)
        assert isinstance(event, MessageAdded)
        if SHELL in event.message.details:
            return event.message


def view_text(driver: Driver) -> str:
    state = driver.session.state
    return "\n".join(entry.message.text for entry in state.view(state.active_context).entries)


async def test_a_command_runs_in_the_work_tree_and_the_model_hears_of_it_at_its_next_turn(
    tmp_path: Path,
) -> None:
    (tmp_path / "here.txt").touch()
    async with driven([reply("I see.")], tmp_path) as driver:
        driver.session.send(RunShell("ls; exit 3"))
        started = await driver.until(ToolRunStarted)
        assert isinstance(started, ToolRunStarted)
        assert (started.name, started.title) == (SHELL, "ls; exit 3")
        await driver.until(CallStarted)
        message = await ended(driver)
        assert message.details["exit_code"] == 3
        assert "here.txt" in message.text
        assert not message.is_users_word
        await driver.run("go on")
        assert "$ ls; exit 3\nhere.txt" in view_text(driver)


async def test_a_private_one_is_kept_and_never_shown_to_the_model(tmp_path: Path) -> None:
    async with driven([reply("Done.")], tmp_path) as driver:
        driver.session.send(RunShell("echo for my eyes", is_private=True))
        message = await ended(driver)
        assert "for my eyes" in message.text
        await driver.run("go on")
        assert "for my eyes" not in view_text(driver)
    kept = reduce_all(records_of(driver.session.directory))
    assert any("for my eyes" in entry.message.text for entry in kept.log)


async def test_output_is_shown_as_it_comes_and_keys_are_taken_out(tmp_path: Path) -> None:
    async with driven([], tmp_path) as driver:
        driver.session.send(RunShell(f"echo {PLANTED_KEY}; sleep 0.3"))
        streamed = await driver.until(ToolOutputStreamed)
        assert isinstance(streamed, ToolOutputStreamed)
        assert PLANTED_KEY not in streamed.text
        assert PLANTED_KEY not in (await ended(driver)).text
    assert PLANTED_KEY not in "".join(map(repr, records_of(driver.session.directory)))


async def test_in_a_run_it_is_told_between_two_turns(tmp_path: Path) -> None:
    script = [reply("I wait.", bash={"command": "sleep 0.6"}), reply("Done.")]
    async with driven(script, tmp_path) as driver:
        running = asyncio.create_task(driver.run("work"))
        await asyncio.sleep(0.3)
        driver.session.send(RunShell("echo meanwhile"))
        await running
        roles = [
            (entry.message.role, SHELL in entry.message.details)
            for entry in driver.session.state.view(driver.session.state.active_context).entries
        ]
    assert roles.count(("user", True)) == 1
    told = roles.index(("user", True))
    assert roles[told - 1][0] == "tool", "never between a call and its result"


@pytest.mark.parametrize("how", ["interrupt", "close"])
async def test_nothing_of_it_is_left_running(tmp_path: Path, how: str) -> None:
    async with driven([], tmp_path) as driver:
        driver.session.send(RunShell("sleep 4711 & sleep 4712"))
        await driver.until(CallStarted)
        if how == "interrupt":
            driver.session.send(InterruptRun())
            assert "[stopped by the user]" in (await ended(driver)).text
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 471" not in running
    kept = reduce_all(records_of(driver.session.directory))
    assert any(SHELL in entry.message.details for entry in kept.log)


async def test_long_output_is_cut_and_kept_whole_beside_the_trace(tmp_path: Path) -> None:
    async with driven([], tmp_path) as driver:
        driver.session.send(RunShell("seq 1 50000"))
        message = await ended(driver)
        assert len(message.text) < 100_000
        assert message.full is not None
        whole = (driver.session.directory / "outputs" / message.full.removeprefix("outputs/")).read_text()
    assert whole.endswith("50000\n")
