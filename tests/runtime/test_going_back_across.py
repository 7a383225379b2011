from __future__ import annotations

import asyncio
import fcntl
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.provider import Script, ScriptedProvider, ScriptedReply
from tests.fakes.session import MODEL, WITHOUT_CLASSIFIER, driven, reply
from tests.runtime.test_going_back import THREE_GOALS, back
from tests.workspace.going_back_kit import content_of, git, git_tree, plain_tree
from tori_tui.bootstrap import SessionOptions
from tori_tui.config import ContextSettings
from tori_tui.domain.commands import ContinueRun, RedoRewind, RewindTo, SubmitPrompt, UndoRewind
from tori_tui.domain.events import MessagesFolded
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import ViewEntry
from tori_tui.workspace.shadow_git import shadow_directory

BOTH_MISSIONS = [
    reply("", goal={"add": "A", "focus": "1"}, bash={"command": "echo one > one.txt"}),
    reply("", goal={"done": "a done"}),
    reply("first done"),
    reply("", goal={"add": "B", "focus": "2"}, bash={"command": "echo two > two.txt; rm one.txt"}),
    reply("", goal={"done": "b done"}),
    reply("second done"),
]


def shown(state: SessionState) -> list[ViewEntry]:
    return list(state.view(MAIN_CONTEXT).entries)


async def test_status_and_index_of_the_user_are_those_of_the_time(tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree")
    async with driven(THREE_GOALS, tree) as driver:
        await driver.run("three things")
        end = git(tree, "status", "--porcelain=v2"), git(tree, "reflog"), git(tree, "stash", "list")
        await back(driver, RewindTo(GoalId("2")))
        second = git(tree, "status", "--porcelain=v2")
        await back(driver, UndoRewind())
        assert (git(tree, "status", "--porcelain=v2"), git(tree, "reflog"), git(tree, "stash", "list")) == end
        await back(driver, RedoRewind())
        assert git(tree, "status", "--porcelain=v2") == second != end[0]


async def test_over_missions_and_back(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    start = content_of(tree)
    async with driven(BOTH_MISSIONS, tree) as driver:
        await driver.run("one")
        first = driver.session.state
        await driver.run("two")
        end, last = content_of(tree), driver.session.state
        await back(driver, RewindTo(GoalId("2")))
        assert (tree / "one.txt").exists()
        assert not (tree / "two.txt").exists()
        await back(driver, RewindTo(turn=1))
        assert content_of(tree) == start
        state = driver.session.state
        assert [mission.text for mission in state.tree.missions] == ["one"]
        assert state.tree.goals == ()
        assert state.tree.counters == last.tree.counters
        await back(driver, UndoRewind())
        await back(driver, UndoRewind())
        assert content_of(tree) == end
        state = driver.session.state
        assert (state.tree, shown(state), state.status) == (last.tree, shown(last), "done")
    assert first.tree.missions != last.tree.missions


async def test_over_a_resume_and_back(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    start = content_of(tree)
    async with driven(BOTH_MISSIONS[:3], tree) as driver:
        await driver.run("one")
        trace = driver.session.directory.name
    options = SessionOptions(cwd=tree, model=MODEL, mode="auto", resume=trace)
    async with driven(BOTH_MISSIONS[3:], tree, options=options) as driver:
        await driver.run("two")
        end = content_of(tree)
        await back(driver, RewindTo(turn=1))
        assert content_of(tree) == start
    # The undo comes from a third process, long after.
    async with driven([], tree, options=options) as driver:
        await back(driver, UndoRewind())
        assert content_of(tree) == end
        assert driver.session.state.tree.find(GoalId("2")) is not None


async def test_over_folds_and_back(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    requests: list[ModelRequest] = []
    settings = replace(WITHOUT_CLASSIFIER, context=ContextSettings(profile="now"))

    def look(request: ModelRequest) -> ScriptedReply:
        requests.append(request)
        return reply("", goal={"done": "b again", "focus": "3"})

    script: list[Script] = [
        *THREE_GOALS,
        look,
        reply("", goal={"done": "c again"}),
        reply("done again"),
    ]
    async with driven(ScriptedProvider(script), tree, settings=settings) as driver:
        await driver.run("three things")
        assert any(isinstance(event, MessagesFolded) for event in driver.events)
        folded = driver.session.state
        await back(driver, RewindTo(GoalId("2")))
        unfolded = shown(driver.session.state)
        assert len(unfolded) < len(folded.log)
        await back(driver, UndoRewind())
        assert shown(driver.session.state) == shown(folded)
        await back(driver, RedoRewind())
        assert shown(driver.session.state) == unfolded
        state = await driver.run(ContinueRun())
    assert state.status == "done"
    sent = "\n".join(message.text for message in requests[0].messages)
    assert "three things" in sent
    assert "b done" not in sent


async def test_the_first_request_does_not_wait_for_the_first_checkpoint(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    asked = asyncio.Event()

    def first(request: ModelRequest) -> ScriptedReply:
        asked.set()
        return reply("an answer")

    shadow = shadow_directory(tmp_path / "tree-home" / "state" / "tori", tree)
    shadow.mkdir(parents=True)
    lock = os.open(shadow / "tori.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    async with driven([first], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        async with asyncio.timeout(5):
            await asked.wait()
        assert driver.session.state.last_checkpoint is None
        os.close(lock)
        state = await driver.until_ended()
    assert state.last_checkpoint is not None


@pytest.mark.parametrize("how", ["rewind", "undo"])
async def test_a_rewind_is_told_once_with_what_stands_outside(how: str, tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree")
    (tree / "big.bin").write_bytes(bytes(5 * 1024 * 1024 + 1))
    async with driven(THREE_GOALS, tree) as driver:
        await driver.run("three things")
        event = await back(driver, RewindTo(GoalId("2")))
        if how == "undo":
            event = await back(driver, UndoRewind())
    assert "big.bin" in event.outside
    assert "build/" in event.outside
    assert event.n_outside == len(event.outside)
