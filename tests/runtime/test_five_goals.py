"""One run of five goals with a comment of every kind, and verdicts that come two turns late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.fakes.provider import Script, ScriptedProvider, ScriptedReply, Turn
from tests.fakes.session import Driver, driven, reply
from tests.runtime.test_steering import CLASSIFIED, shown
from tori_tui.context.classify import CONTEXT
from tori_tui.domain.commands import AddComment, SubmitPrompt
from tori_tui.domain.events import CommentRouted, ToolRunStarted
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.state import SessionState
from tori_tui.providers.base import StreamEvent

LATER = "the notes should be short"
NOW = "mind the gap"
BACK = "the reading missed half"
OTHER = "forget the tests, draw instead"

VERDICTS: Mapping[str, Mapping[str, object]] = {
    LATER: {"impact": "future", "goals": ["5"]},
    NOW: {"impact": "current", "goals": ["3"]},
    BACK: {"impact": "past", "goals": ["1"], "rejects": True},
    OTHER: {"impact": "requirement_change"},
}


class ModelWithReader:
    """The turns of a script, and a classifier that knows each remark, once it may speak."""

    name = "scripted"

    def __init__(self, turns: Sequence[Script], verdicts: Mapping[str, Mapping[str, object]]) -> None:
        self.turns = ScriptedProvider(turns)
        self.may_speak = asyncio.Event()
        self.may_speak.set()
        self._verdicts = verdicts

    async def prepare(self) -> None:
        await self.turns.prepare()

    async def close(self) -> None:
        await self.turns.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        provider = self.turns
        if request.context == CONTEXT:
            await self.may_speak.wait()
            remarks = request.messages[0].text.split("## Remarks")[1]
            said = next(verdict for text, verdict in self._verdicts.items() if text in remarks)
            provider = ScriptedProvider([ScriptedReply(json.dumps([{"remark": 1, **said}]))])
        async for event in provider.stream(request):
            yield event


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


async def say_during_the_next_command(driver: Driver, text: str) -> None:
    await driver.until(ToolRunStarted)
    driver.session.send(AddComment(CommentId(text), text))


def described(state: SessionState) -> dict[str, tuple[str, str]]:
    return {str(goal.id): (goal.status, goal.description) for goal in state.tree.goals}


async def test_each_comment_lands_where_it_falls_in_the_plan_within_one_turn(tree: Path) -> None:
    model = ModelWithReader(
        [
            reply("", goal={"add": "Read, Write, Test, Look, Note", "focus": "1"}),
            reply("", goal={"done": "read it all", "focus": "2"}),
            reply("", goal={"done": "wrote it", "focus": "3"}),
            reply("", bash={"command": "sleep 0.3; echo ran on"}),
            reply("", bash={"command": "sleep 0.3; echo ran again"}),
            reply("", bash={"command": "echo begun; sleep 31.25"}),
            reply("", goal={"done": "read the rest", "focus": "3"}),
            reply("", bash={"command": "echo tests; sleep 31.75"}),
            reply("", goal={"abandon": "not wanted", "add": "Draw", "focus": "3'"}),
            reply("", goal={"done": "drawn", "focus": "4"}),
            reply("", goal={"done": "looked", "focus": "5"}),
            reply("", goal={"done": "noted"}),
            reply("ok"),
        ],
        VERDICTS,
    )
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        for text in (LATER, NOW, BACK, OTHER):
            await say_during_the_next_command(driver, text)
        state = await driver.until_ended()
        routed = [event for event in driver.events if isinstance(event, CommentRouted)]
    requests = model.turns.requests

    assert [(r.impact, r.decided_by, r.cancels) for r in routed] == [
        ("future", "classifier", False),
        ("current", "classifier", False),
        ("past", "classifier", True),
        ("requirement_change", "classifier", True),
    ]
    results = [entry.message.text for entry in state.log if entry.message.name == "bash"]
    assert [text.split("\n")[0] for text in results[:2]] == ["ran on", "ran again"]
    assert "5. Note (user: the notes should be short)" in (requests[4].late_system or "")

    assert shown(requests[5])[-1] == NOW

    assert shown(requests[6])[-1] == BACK
    plan = requests[6].late_system or ""
    assert "1'. Read  ← current" in plan
    assert "[✓] 2. Write" in plan
    assert "wrote it" in plan
    assert any("Cancelled here" in text and "sleep 31.25" in text for text in shown(requests[6]))

    assert shown(requests[8])[-1] == OTHER
    assert "Replan all that is left" in shown(requests[8])[-2]
    assert any("Cancelled here" in text and "sleep 31.75" in text for text in shown(requests[8]))

    assert described(state) == {
        "1": ("completed", "Read"),
        "1'": ("completed", "Read"),
        "2": ("completed", "Write"),
        "3": ("abandoned", "Test"),
        "3'": ("completed", "Draw"),
        "4": ("completed", "Look"),
        "5": ("completed", "Note (user: the notes should be short)"),
    }
    assert state.status == "done"


@pytest.mark.parametrize(
    ("verdict", "impact", "note"),
    [
        ({"goals": ["1"]}, "past", "that goal had ended, so it is taken up again"),
        ({"goals": ["1"], "confidence": 0.3}, "current", "joined the context: unsure (30%)"),
        ({"goals": ["1.7"]}, "current", "joined the context: the goals that it names are not there"),
    ],
)
async def test_a_verdict_two_turns_late_is_held_against_the_plan_of_now_and_the_trace_says_how(
    tree: Path, verdict: Mapping[str, object], impact: str, note: str
) -> None:
    def third(_: ModelRequest) -> Turn:
        model.may_speak.set()
        return reply("", bash={"command": "sleep 0.3"})

    script: list[Script] = [
        reply("", goal={"add": "Read, Write", "focus": "1"}),
        reply("", bash={"command": "sleep 0.1"}),
        reply("", goal={"done": "read it", "focus": "2"}),
        third,
        reply("", goal={"done": "again"} | ({"focus": "2"} if impact == "past" else {})),
        reply("", goal={"done": "wrote"}) if impact == "past" else reply("ok"),
        reply("ok"),
    ]
    model = ModelWithReader(script, {"and the hidden files": {"impact": "current", **verdict}})
    model.may_speak.clear()
    async with driven(model, tree, settings=CLASSIFIED) as driver:
        driver.session.send(SubmitPrompt("do it"))
        await say_during_the_next_command(driver, "and the hidden files")
        state = await driver.until_ended()
        (routed,) = [event for event in driver.events if isinstance(event, CommentRouted)]
    assert routed.impact == impact
    assert routed.note.startswith(note)
    assert shown(model.turns.requests[4])[-1] == "and the hidden files"
    replaced = state.tree.find(GoalId("1'"))
    assert (replaced is not None) == (impact == "past")
    assert state.status == "done"
