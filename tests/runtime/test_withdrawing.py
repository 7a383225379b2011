from __future__ import annotations

import asyncio
from pathlib import Path

from tests.fakes.session import driven, reply
from tori_tui.domain.commands import AddComment, WithdrawComment
from tori_tui.domain.events import CommentRouted, NoticeShown
from tori_tui.domain.ids import CommentId

COMMENT = CommentId("k1")


async def test_a_comment_that_waits_is_withdrawn_and_has_no_effect(tmp_path: Path) -> None:
    script = [reply("I wait.", bash={"command": "sleep 0.5"}), reply("Done.")]
    async with driven(script, tmp_path) as driver:
        running = asyncio.create_task(driver.run("work"))
        await asyncio.sleep(0.2)
        driver.session.send(AddComment(COMMENT, "never mind this"))
        driver.session.send(WithdrawComment(COMMENT))
        state = await running
        assert state.comments == {}
        assert not any("never mind" in entry.message.text for entry in state.log)
        routed = [event for event in driver.events if isinstance(event, CommentRouted)]
        assert [event.is_withdrawn for event in routed] == [True]


async def test_one_that_took_effect_stays_and_that_is_told(tmp_path: Path) -> None:
    script = [reply("I wait.", bash={"command": "sleep 0.3"}), reply("Done."), reply("Done.")]
    async with driven(script, tmp_path) as driver:
        running = asyncio.create_task(driver.run("work"))
        await asyncio.sleep(0.1)
        driver.session.send(AddComment(COMMENT, "mind this", "now"))
        state = await running
        assert any("mind this" in entry.message.text for entry in state.log)
        driver.session.send(WithdrawComment(COMMENT))
        notice = await driver.until(NoticeShown)
        assert isinstance(notice, NoticeShown)
        assert "taken effect" in notice.text
