from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tests.branches.kit import direction_of, results
from tests.cli.kit import Project, says
from tests.cli.kit import calls as recorded
from tests.faults.session_kit import (
    WireRefusal,
    WireReply,
    WireRequest,
    WireUsage,
    call,
    does,
    on_wire,
    window,
)
from tests.wire.answers import Answer, in_order
from tori_tui.config import ExploreSettings, FeedbackSettings, Settings
from tori_tui.domain.commands import CompactContext
from tori_tui.domain.events import MessagesFolded
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.render.plan import plan_text

SETTINGS = Settings(feedback=FeedbackSettings(classifier="off"), explore=ExploreSettings(turns=3))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    return root


SEND_TWO = does(call("explore", branches=["left way", "right way"], background="Files."))


def parents(request: WireRequest) -> WireReply:
    return SEND_TWO if request.n_replies == 0 else WireReply("Both are back.")


async def test_branch_whose_server_fails_for_ever_leaves_the_other_ones_result(tree: Path) -> None:
    def model(request: WireRequest) -> Answer:
        match direction_of(request):
            case "":
                return parents(request)
            case "left way":
                return WireReply("Left is good.")
            case _:
                return WireRefusal(500, {"error": {"message": "broken for ever"}})

    async with on_wire(model, tree, settings=window(100_000, SETTINGS), waits=False) as (server, driver):
        state = await driver.run("find a way")
    (report,) = results(state)
    assert state.status == "done"
    assert "Left is good." in report
    assert "broken for ever" in report
    # The parent's two, the good branch's one, and the tries of the other.
    assert len(server.requests) == 3 + 6


async def test_branch_that_reaches_its_limit_is_one_result_with_what_it_found(tree: Path) -> None:
    numbers = itertools.count()

    def model(request: WireRequest) -> Answer:
        if not direction_of(request):
            return parents(request)
        return does(call("bash", command=f"echo {next(numbers)}"), text="I look on.")

    async with on_wire(model, tree, settings=window(100_000, SETTINGS)) as (_, driver):
        state = await driver.run("find a way")
    assert state.status == "done"
    assert len(results(state)) == 1
    assert results(state)[0].count("limit") >= 2
    assert all(branch.end is not None for branch in state.branches.values())


async def test_branch_is_not_offered_explore_and_cannot_use_it(tree: Path) -> None:
    def model(request: WireRequest) -> Answer:
        if not direction_of(request):
            return parents(request)
        if request.results:
            return WireReply("I did it myself.")
        return does(call("explore", branches=["deeper", "still deeper"], background="x"))

    async with on_wire(model, tree, settings=window(100_000, SETTINGS)) as (server, driver):
        state = await driver.run("find a way")
    assert len(state.branches) == 2
    for request in server.requests:
        names = [tool["function"]["name"] for tool in request.body["tools"]]
        assert ("explore" in names) == (not direction_of(request))
    assert len(server.requests) == 6
    asked = [r for r in server.requests if direction_of(r) and r.results]
    assert all("explore" in "\n".join(request.results) for request in asked)


async def test_tokens_of_branches_count_in_the_total_and_not_in_the_parents_context(tree: Path) -> None:
    def model(request: WireRequest) -> Answer:
        if direction_of(request):
            return WireReply("Found.", usage=WireUsage(10_000, 100))
        reply = parents(request)
        return WireReply(reply.text, reply.calls, usage=WireUsage(1_000, 50))

    async with on_wire(model, tree, settings=window(100_000, SETTINGS)) as (_, driver):
        state = await driver.run("find a way")
    assert state.usage.input_tokens == 22_000
    assert state.last_turns[MAIN_CONTEXT].usage.input_tokens == 1_000
    meta = json.loads((driver.session.directory / "meta.json").read_text())
    assert meta["usage"]["input_tokens"] == 22_000


async def test_finished_plan_is_not_active_in_the_next_task(tree: Path) -> None:
    (tree / "big.txt").write_text("".join(f"line {n} {n * 7919}\n" for n in range(600)))
    script = in_order(
        does(call("goal", add="Read it, Write it", focus="1")),
        does(call("read_file", path="big.txt")),
        does(call("read_file", path="a.txt")),
        does(call("goal", done="read", focus="2")),
        does(call("goal", done="written")),
        WireReply("Done."),
        WireReply("A new task."),
    )
    async with on_wire(script, tree) as (server, driver):
        await driver.run("first task")
        driver.session.send(CompactContext())
        await driver.until(MessagesFolded)
        state = await driver.run("second task")
        shown = plan_text(state.tree)
    plan = server.requests[-1].system_texts[-1]
    assert "**Mission**: second task" in plan
    assert "Read it" not in plan
    assert "← current" not in plan
    async with on_wire(in_order(WireReply("Back.")), tree, resume="") as (_, driver):
        assert driver.session.state.tree == state.tree
        assert plan_text(driver.session.state.tree) == shown


def test_new_session_has_no_plan_of_the_old_one(tmp_path: Path) -> None:
    project = Project.make(tmp_path, recorded("goal", '{"add": "Old goal", "focus": "1"}') + says("Stopped."))
    project.tori("run", "old", "--mode", "auto")
    project.recording.write_text(says("New."))
    assert project.tori("run", "new", "--mode", "auto").returncode == 0
    goals = [json.loads((trace / "goal.json").read_text()) for trace in project.traces]
    assert sorted(len(goal["goals"]) for goal in goals) == [0, 1]
