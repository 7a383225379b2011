"""Interrupts at any moment of a long run, with real processes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.processes import pids_of
from tests.fakes.provider import ScriptedProvider, ScriptedReply, Turn
from tests.fakes.session import PLANTED_KEY, Driver, driven, reply, scripted
from tests.runtime.lives import violations
from tori_tui.domain.commands import ContinueRun, InterruptRun, SubmitPrompt
from tori_tui.domain.events import RequestStarted, RunStatusChanged, ToolOutputStreamed
from tori_tui.domain.request import ModelRequest
from tori_tui.providers.base import StreamEvent

STOP_S: Final = 0.5
"""Stream and tools stop within that."""

N_TURNS: Final = 50
N_INTERRUPTS: Final = 20

KINDS: Final = ("stream", "sleep", "pipe", "children", "server", "quick", "read", "write", "parallel")

STUBBORN: Final = reply("", bash={"command": "trap '' TERM; echo begun; while true; do sleep 0.05; done"})


class BusyModel:
    """Fifty turns of everything that takes time, then an answer; checks each request."""

    name = "scripted"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.n_turns = 0
        self.may_end = False
        self.wrong: list[str] = []

    async def prepare(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        self.wrong += violations(request)
        self.n_turns += 1
        is_over = self.may_end and self.n_turns > N_TURNS
        kind = "end" if is_over else self._random.choice(KINDS)
        async for event in ScriptedProvider([self._turn(kind, self.n_turns)]).stream(request):
            yield event

    def _turn(self, kind: str, n: int) -> Turn:
        match kind:
            case "stream":
                look = (scripted("read_file", {"path": "a.txt"}),)
                return ScriptedReply(f"words of turn {n} " * 4, look, delay_s=0.01)
            case "sleep":
                return reply("", bash={"command": f"echo {n}; sleep 0.1{n}"})
            case "pipe":
                return reply("", bash={"command": f"yes {n} | head -c 50000 | (sleep 0.1{n}; wc -c)"})
            case "children":
                return reply("", bash={"command": f"(sleep 0.2{n} & sleep 0.1{n}; wait)"})
            case "server":
                return reply("", bash={"command": f"sleep 41.{n} > /dev/null", "background": True})
            case "quick":
                return reply("", bash={"command": f"echo {n}"})
            case "read":
                return reply("", read_file={"path": "a.txt"}, grep_files={"pattern": f"{n}"})
            case "write":
                return reply("", write_file={"path": f"f{n % 5}.txt", "content": f"{n}\n"})
            case "parallel":
                calls = (
                    scripted("read_file", {"path": "a.txt"}),
                    scripted("bash", {"command": f"sleep 0.0{n}; echo {n}"}),
                    scripted("write_file", {"path": f"p{n % 5}.txt", "content": f"{n}\n"}),
                    scripted("goal", {"add": f"Part {n}", "focus": str(n)}),
                )
                return ScriptedReply("", calls)
            case _:
                return ScriptedReply("All of it.")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.txt").write_text("hello\n" * 200)
    return root


async def stopped_after_s(driver: Driver) -> float:
    """Interrupt and return how long it took until the run said that it had ended."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    driver.session.send(InterruptRun())
    state = await driver.until_ended()
    assert state.status == "interrupted"
    assert dict(state.open_calls) == {}
    return loop.time() - began_s


async def test_twenty_random_interrupts_in_fifty_turns_stop_at_once_and_leave_a_whole_trace(
    tree: Path,
) -> None:
    chance = random.Random(6)
    model = BusyModel(6)
    taken_s: list[float] = []
    async with driven(model, tree) as driver:
        driver.session.send(SubmitPrompt("do much"))
        while len(taken_s) < N_INTERRUPTS:
            for _ in range(chance.randint(1, 3)):
                await driver.until(RequestStarted)
            await asyncio.sleep(chance.choice((0.0, 0.002, 0.02, 0.05, 0.1, 0.15)))
            taken_s.append(await stopped_after_s(driver))
            assert pids_of("sleep 0.", tree) == []
            driver.session.send(ContinueRun())
        model.may_end = True
        state = await driver.until_ended()
    assert model.wrong == []
    assert state.status in ("done", "incomplete")
    assert (model.n_turns > N_TURNS, dict(state.open_calls)) == (True, {})
    assert pids_of("sleep", tree) == []
    # A machine that is busy with something else may hold up two of them.
    assert sorted(taken_s)[-3] < STOP_S, taken_s


async def test_a_command_that_ignores_term_holds_up_no_interrupt_and_is_gone_before_the_next(
    tree: Path,
) -> None:
    async with driven([STUBBORN, reply("", bash={"command": "echo next"}), reply("ok")], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolOutputStreamed)
        taken_s = await stopped_after_s(driver)
        driver.session.send(ContinueRun())
        await driver.until(ToolOutputStreamed)
        assert pids_of("trap", tree) == []
        state = await driver.until_ended()
    assert taken_s < 2 * STOP_S
    assert "begun" in next(entry.message.text for entry in state.log if entry.message.role == "tool")


async def test_a_command_that_ignores_term_is_gone_when_the_session_is_closed(tree: Path) -> None:
    async with driven([STUBBORN], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolOutputStreamed)
        await stopped_after_s(driver)
    assert pids_of("trap", tree) == []


async def test_an_interrupt_before_the_first_step_ends_the_run(tree: Path) -> None:
    async with driven([reply("never said")], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        driver.session.send(InterruptRun())
        event = await driver.until(RunStatusChanged)
        assert isinstance(event, RunStatusChanged)
        assert event.status == "interrupted"


async def test_what_an_interrupted_command_printed_is_kept_without_keys(tree: Path) -> None:
    half = len(PLANTED_KEY) // 2
    leak = f"printf {PLANTED_KEY[:half]}; echo {PLANTED_KEY[half:]}; sleep 20.5"
    async with driven([reply("", bash={"command": leak}), reply("ok")], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolOutputStreamed)
        await stopped_after_s(driver)
    kept = [path.read_text() for path in (driver.session.directory / "outputs").glob("*.log")]
    assert len(kept) == 1
    assert kept[0].strip()
    assert PLANTED_KEY not in kept[0]
