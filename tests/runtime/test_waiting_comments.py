from __future__ import annotations

import asyncio
from pathlib import Path

from tests.fakes.provider import ScriptedProvider
from tests.fakes.session import driven, reply
from tests.runtime.test_steering import shown
from tori_tui.domain.commands import AddComment, InterruptRun, MoveComment, SubmitPrompt
from tori_tui.domain.events import CommentMoved, CommentReceived, NoticeShown, ToolRunStarted
from tori_tui.domain.ids import CommentId
from tori_tui.domain.messages import ContentPart

ONE, TWO, THREE = (CommentId(name) for name in ("k1", "k2", "k3"))

WAITS = reply("I wait.", bash={"command": "sleep 30"})

DOT = ContentPart("image", media_type="image/png", data="aGk=")


async def test_what_waited_at_an_interrupt_is_heard_before_the_next_prompt(tmp_path: Path) -> None:
    provider = ScriptedProvider([WAITS, reply("Ok.")])
    async with driven(provider, tmp_path) as driver:
        driver.session.send(SubmitPrompt("work"))
        await driver.until(ToolRunStarted)
        for comment, text in ((ONE, "first"), (TWO, "second")):
            driver.session.send(AddComment(comment, text))
            await driver.until(CommentReceived)
        state = await driver.run(InterruptRun())
        assert tuple(state.comments) == (ONE, TWO)
        state = await driver.run(AddComment(THREE, "third"))
    assert state.comments == {}
    assert shown(provider.requests[1])[-3:] == ["first", "second", "third"]


async def test_a_word_said_while_an_interrupted_run_winds_down_is_answered(tmp_path: Path) -> None:
    provider = ScriptedProvider([WAITS, reply("Ok.")])
    async with driven(provider, tmp_path) as driver:
        driver.session.send(SubmitPrompt("work"))
        await driver.until(ToolRunStarted)
        driver.session.send(InterruptRun())
        driver.session.send(AddComment(ONE, "do this instead"))
        state = await driver.until_ended()
        assert state.status == "interrupted"
        state = await driver.until_ended()
    assert state.status == "done"
    assert shown(provider.requests[1])[-1] == "do this instead"


async def test_a_comment_that_waits_can_be_moved_before_another(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply("I wait.", bash={"command": "sleep 0.6"}), reply("Ok."), reply("Ok.")])
    async with driven(provider, tmp_path) as driver:
        running = asyncio.create_task(driver.run("work"))
        await asyncio.sleep(0.2)
        for comment, text in ((ONE, "first"), (TWO, "second"), (THREE, "third")):
            driver.session.send(AddComment(comment, text))
        driver.session.send(MoveComment(THREE, ONE))
        driver.session.send(MoveComment(ONE))
        driver.session.send(MoveComment(CommentId("nobody"), ONE))
        await running
    assert shown(provider.requests[1])[-3:] == ["third", "second", "first"]
    moves = [event for event in driver.events if isinstance(event, CommentMoved)]
    assert moves == [CommentMoved(THREE, ONE), CommentMoved(ONE)]
    assert any(isinstance(item, NoticeShown) and "taken effect" in item.text for item in driver.items)


async def test_images_reach_the_model_behind_the_words_of_prompt_and_comment(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply("I wait.", bash={"command": "sleep 0.4"}), reply("Ok."), reply("Ok.")])
    async with driven(provider, tmp_path) as driver:
        running = asyncio.create_task(driver.run(SubmitPrompt("see [image 1: a.png 1×1]", images=(DOT,))))
        await asyncio.sleep(0.2)
        driver.session.send(AddComment(ONE, "and [image 2: b.png 1×1]", images=(DOT,)))
        await running
    asked, told = (provider.requests[n].messages for n in (0, 1))
    assert asked[0].content == (ContentPart("text", "see [image 1: a.png 1×1]"), DOT)
    assert told[-1].content == (ContentPart("text", "and [image 2: b.png 1×1]"), DOT)
