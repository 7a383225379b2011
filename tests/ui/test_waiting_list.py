from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, live, ready, sent
from tori_tui.domain.commands import AddComment, MoveComment, WithdrawComment
from tori_tui.domain.events import CommentMoved, CommentReceived, CommentRouted
from tori_tui.domain.ids import CommentId
from tori_tui.ui.widgets.waiting_list import WaitingList

FIRST = CommentReceived(CommentId("k1"), "also the logout")
SECOND = CommentReceived(CommentId("k2"), "测试也要写\nand in Chinese")


async def test_what_waits_is_shown_until_it_takes_effect() -> None:
    async with live(RUNNING) as (stage, pilot):
        assert not stage.screen.waiting.display
        stage.session.emit(FIRST, SECOND)
        await pilot.pause()
        assert stage.screen.waiting.size.height == 2
        stage.session.emit(CommentRouted(FIRST.comment_id, "current", "user"))
        await pilot.pause()
        assert stage.screen.waiting.size.height == 1
        stage.session.emit(CommentRouted(SECOND.comment_id, "future", "user", is_withdrawn=True))
        await pilot.pause()
        assert not stage.screen.waiting.display


async def test_up_takes_the_newest_back_to_be_edited_and_sent_again() -> None:
    async with live(RUNNING, history=("older",)) as (stage, pilot):
        stage.session.emit(FIRST, SECOND)
        await pilot.pause()
        await pilot.press("up")
        await pilot.pause()
        assert sent(stage) == [WithdrawComment(SECOND.comment_id)]
        assert stage.screen.input.text == SECOND.text
        stage.session.emit(CommentRouted(SECOND.comment_id, "future", "user", is_withdrawn=True))
        await pilot.press("!", "enter")
        assert sent(stage)[1:] == [AddComment(CommentId("t1"), f"{SECOND.text}!")]


async def test_without_one_up_shows_earlier_messages() -> None:
    async with live(RUNNING, history=("older",)) as (stage, pilot):
        await pilot.press("up")
        assert stage.screen.input.text == "older"
        assert sent(stage) == []


async def test_a_click_takes_that_one_back_before_the_draft() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(FIRST, SECOND)
        await pilot.press(*"draft")
        await pilot.click(WaitingList, offset=(5, 0))
        await pilot.pause()
        assert sent(stage) == [WithdrawComment(FIRST.comment_id)]
        assert stage.screen.input.text == "also the logout\ndraft"


async def test_in_the_list_each_is_marked_moved_deleted_and_taken_back() -> None:
    third = CommentReceived(CommentId("k3"), "and the docs", "later")
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(FIRST, SECOND, third)
        await pilot.pause()
        stage.screen.waiting.focus()
        await pilot.press("M", "m", "up", "m", "up", "M", "x")
        assert sent(stage) == [
            MoveComment(third.comment_id, SECOND.comment_id),
            MoveComment(SECOND.comment_id),
            WithdrawComment(FIRST.comment_id),
        ]
        stage.session.emit(CommentMoved(third.comment_id, FIRST.comment_id))
        await pilot.pause()
        assert "later: and the docs" in stage.screen.waiting.render_line(0).text
        await pilot.press("up", "enter")
        await pilot.pause()
        assert sent(stage)[-1] == WithdrawComment(third.comment_id)
        assert stage.screen.input.text == third.text
        assert stage.screen.focused is stage.screen.input


async def test_escape_and_the_end_of_the_line_lead_back_to_the_input_and_interrupt_nothing() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(FIRST)
        await pilot.pause()
        await pilot.press("f6", "f6", "f6")
        seen = [stage.screen.focused]
        await pilot.press("escape")
        await pilot.pause()
        seen.append(stage.screen.focused)
        assert sent(stage) == []
        stage.screen.waiting.focus()
        await pilot.pause()
        stage.session.emit(CommentRouted(FIRST.comment_id, "current", "user"))
        await pilot.pause()
        assert [*seen, stage.screen.focused] == [stage.screen.waiting, *[stage.screen.input] * 2]


@pytest.mark.parametrize(
    ("theme", "size", "has_focus"), [("dark", WIDE, False), ("light", SMALL, True)], ids=["dark", "light"]
)
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int], has_focus: bool) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(
            *RUNNING,
            answered(scenes.ANSWER),
            *(
                CommentReceived(CommentId(f"w{n}"), text)
                for n, text in enumerate(
                    ["one", FIRST.text, SECOND.text, "make the error messages say what to do " * 4]
                )
            ),
        )
        await pilot.pause(0.1)
        if has_focus:
            stage.screen.waiting.focus()
            await pilot.press("up")

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
