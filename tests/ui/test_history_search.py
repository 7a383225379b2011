from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered
from tests.ui.test_completion_popup import offered
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, live, ready, sent
from tori_tui.domain.commands import AddComment
from tori_tui.domain.ids import CommentId
from tori_tui.ui.completing import history_offer

PAST = ("fix login", "add tests", "登录页面\n要改成两行\n第三行", "fix logout", "x" * 300)


async def test_the_draft_is_what_is_looked_for_and_enter_takes_what_is_marked() -> None:
    async with live(history=PAST) as (stage, pilot):
        await pilot.press(*"fix", "ctrl+r")
        assert offered(stage) == ["fix logout", "fix login"]
        await pilot.press("ctrl+r", "enter")
        assert stage.screen.input.text == "fix login"
        assert not stage.screen.popup.display
        await pilot.press("!", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "fix login!")]


async def test_escape_restores_the_draft_and_undo_does_after_enter() -> None:
    async with live(history=PAST) as (stage, pilot):
        await pilot.press(*"my", "ctrl+j", *"draft", "ctrl+r")
        assert len(offered(stage)) == len(PAST), "a draft of several lines is no query"
        await pilot.press(*"zzz", "enter")
        assert offered(stage) == []
        assert sent(stage) == []
        await pilot.press("escape")
        assert stage.screen.input.text == "my\ndraft"
        await pilot.press("ctrl+r", "down", "enter")
        assert stage.screen.input.text == "fix logout"
        await pilot.press("ctrl+underscore")
        assert stage.screen.input.text == "my\ndraft"


async def test_what_was_just_sent_is_found_first() -> None:
    async with live(history=PAST) as (stage, pilot):
        await pilot.press(*"fix it", "enter", "ctrl+r", *"fix")
        assert offered(stage)[0] == "fix it"


def test_words_go_before_letters_and_the_newest_before_older_ones() -> None:
    def found(query: str) -> list[str]:
        return [suggestion.insert for suggestion in history_offer(query, PAST).suggestions]

    assert found("") == list(reversed(PAST))
    assert found("LOG fix") == ["fix logout", "fix login"]
    assert found("两行") == [PAST[2]]
    assert found("atts") == ["add tests"]
    assert history_offer("", ()).note == "nothing was written before"


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light"])
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme, history=PAST)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*RUNNING, answered(scenes.ANSWER))
        await pilot.pause(0.1)
        await pilot.press("ctrl+r", "down", "down")

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
