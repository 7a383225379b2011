from __future__ import annotations

import asyncio
from pathlib import Path

from tests.fakes.session import WITHOUT_CLASSIFIER, Driver
from tests.wire.answers import WireReply, in_order
from tests.wire.server import WireServer
from tori_tui.bootstrap import SessionOptions, open_session, real_surroundings
from tori_tui.domain.commands import SwitchModel
from tori_tui.domain.events import NoticeShown


async def test_a_model_that_cannot_be_used_is_refused_in_the_words_of_the_command_line(
    tmp_path: Path,
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    async with WireServer(in_order(WireReply("hi"))) as server:
        world = real_surroundings(
            {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "OPENAI_BASE_URL": server.openai_url}
        )
        options = SessionOptions(cwd=place, model="openai-chat/wire-model", mode="auto")
        session = await open_session(WITHOUT_CLASSIFIER, options, world)
        driver = Driver(session, session.subscribe())
        serving = asyncio.create_task(session.run())
        told: list[str] = []
        for name in ("anthropic/claude-opus-5", "other"):
            session.send(SwitchModel(name))
            notice = await driver.until(NoticeShown)
            assert isinstance(notice, NoticeShown)
            told.append(notice.text)
        state = await driver.run("go")
        await session.close()
        await serving
    assert "set ANTHROPIC_API_KEY" in told[0]
    assert "write openai-chat/other" in told[1]
    assert (state.status, state.model) == ("done", "openai-chat/wire-model")
