from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready, sent
from tori_tui.domain.commands import InterruptRun, RunShell
from tori_tui.domain.events import MessageAdded, ToolOutputStreamed, ToolRunStarted
from tori_tui.domain.ids import MAIN_CONTEXT, CallId
from tori_tui.domain.messages import SHELL, Message
from tori_tui.ui.slash import read_shell
from tori_tui.ui.transcript.blocks import CallBlock


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("!ls -la", RunShell("ls -la")),
        ("! ls", RunShell("ls")),
        ("!!env", RunShell("env", is_private=True)),
        ("!for f in *\ndo echo $f\ndone", RunShell("for f in *\ndo echo $f\ndone")),
        ("!", None),
        ("!!", None),
        ("wait!", None),
        ("", None),
    ],
)
def test_a_command_stands_behind_an_exclamation_mark(text: str, command: RunShell | None) -> None:
    assert read_shell(text) == command


def ran(
    number: str, command: str, output: str, *, is_private: bool = False, exit_code: int = 0
) -> MessageAdded:
    return MessageAdded(
        Message(
            MAIN_CONTEXT,
            None,
            "user",
            f"$ {command}\n{output}",
            "runner",
            interrupted=is_private,
            duration_s=0.4,
            details={SHELL: number, "command": command, "output": output, "exit_code": exit_code},
        )
    )


def blocks(stage: Stage) -> list[CallBlock]:
    return [block for _, block in stage.screen.story.blocks if isinstance(block, CallBlock)]


async def test_it_is_sent_as_a_command_and_remembered() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"!ls", "enter", *"!!env", "enter", *"!", "enter")
        assert sent(stage) == [RunShell("ls"), RunShell("env", is_private=True)]
        assert stage.remembered == ["!ls", "!!env"]
        assert stage.screen.input.text == "!"


async def test_it_is_shown_while_it_runs_and_when_it_has_ended_once() -> None:
    async with live() as (stage, pilot):
        stage.session.emit(
            ToolRunStarted(CallId("s1"), SHELL, "ls"), ToolOutputStreamed(CallId("s1"), "a.py\n")
        )
        await pilot.pause(0.2)
        (block,) = blocks(stage)
        assert (block.name, block.state, block.output) == ("!", "running", "a.py\n")
        stage.session.emit(ran("s1", "ls", "a.py\nb.py\n[exit 0]"))
        await pilot.pause()
        (block,) = blocks(stage)
        assert (block.name, block.state, block.output) == ("!", "done", "a.py\nb.py\n[exit 0]")


async def test_one_of_an_earlier_time_is_shown_from_its_record() -> None:
    async with live([ran("s1", "env", "HOME=/", is_private=True)]) as (stage, _):
        (block,) = blocks(stage)
        assert (block.name, block.output) == ("!!", "HOME=/")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_keys_that_interrupt_stop_it_in_an_idle_session(key: str) -> None:
    async with live() as (stage, pilot):
        await pilot.press(key)
        assert sent(stage) == []
        stage.session.emit(ToolRunStarted(CallId("s1"), SHELL, "sleep 9"))
        await pilot.pause()
        await pilot.press(key)
        assert sent(stage) == [InterruptRun()]


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light"])
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(
            *scenes.working_session()[:6],
            ran("s1", "git log --oneline | head -2", "1f2e3d4 修复登录\n0a1b2c3 Add tests\n[exit 0]"),
            ran("s2", "env | grep KEY", "[exit 1]", is_private=True, exit_code=1),
            ToolRunStarted(CallId("s3"), SHELL, "make test"),
            ToolOutputStreamed(CallId("s3"), "collecting …\n12 passed"),
        )
        await pilot.pause(0.1)
        await pilot.press(*"!make lint")

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
