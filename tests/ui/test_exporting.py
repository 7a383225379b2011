from __future__ import annotations

import pytest

from tests.ui.test_session_screen import live


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/export", "The session as a page: trace.html"),
        ("/export md notes", "The session as a page: notes.md"),
        ("/export html /", "/ is a folder."),
        ("/export nonsense", "/export [html | md | svg] [FILE]"),
    ],
)
async def test_export_says_where_the_page_is_or_why_there_is_none(line: str, told: str) -> None:
    async with live() as (stage, pilot):
        stage.screen.input.load_text(line)
        await pilot.press("enter")
        await pilot.pause(0.1)
        assert any(told in shown for shown in stage.screen.transcript.shown_text)
        assert stage.session.sent == []
