from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, ready, sent
from tori_tui.domain.commands import AddComment, InterruptRun
from tori_tui.domain.ids import CommentId

TEXT = "fix the login, now\n  中文 and 😀 more\n\nlast"


@asynccontextmanager
async def normal(text: str, place: tuple[int, int]) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    stage = Stage(has_vim_keys=True)
    async with stage.app.run_test(size=WIDE) as pilot:
        await ready(stage, pilot)
        stage.screen.input.insert(text)
        await pilot.press("escape")
        stage.screen.input.move_cursor(place)
        yield stage, pilot


MOTIONS = {
    "w": (0, 4),
    "3w": (0, 13),
    "we": (0, 6),
    "e": (0, 2),
    "5w": (1, 2),
    "$": (0, 17),
    "$h": (0, 16),
    "$lll": (0, 17),
    "$b": (0, 15),
    "wwbb": (0, 0),
    "G": (3, 0),
    "Ggg": (0, 0),
    "j^": (1, 2),
    "jww": (1, 5),
    "j$bbbb": (1, 2),
    "jjj$": (3, 3),
    "kkk": (0, 0),
    "zq": (0, 0),
}


CHANGES = {
    "x": "ix the login, now",
    "3x": " the login, now",
    "dw": "the login, now",
    "2dw": "login, now",
    "wd$": "fix ",
    "wD": "fix ",
    "$d0": "w",
    "wwdb": "fix login, now",
    "de": " the login, now",
    "wcwa!": "fix a! login, now",
    "wC!": "fix !",
    "ccnew": "new",
    "Ax": "fix the login, nowx",
    "wIx": "xfix the login, now",
    "ax": "fxix the login, now",
    "$ax": "fix the login, nowx",
    "dwu": "fix the login, now",
    "dwuU": "the login, now",
    "dwP": "fix the login, now",
    "xp": "ifx the login, now",
    "ddd": "",
    "yyp": "fix the login, now\nfix the login, now",
    "ywP": "fix fix the login, now",
}


async def test_motions_go_where_vims_go() -> None:
    async with normal(TEXT, (0, 0)) as (stage, pilot):
        for keys, place in MOTIONS.items():
            stage.screen.input.move_cursor((0, 0))
            await pilot.press(*keys)
            assert stage.screen.input.cursor_location == place, keys
        assert stage.screen.input.text == TEXT


async def test_changes_change_what_vims_change() -> None:
    async with normal("", (0, 0)) as (stage, pilot):
        for keys, text in CHANGES.items():
            written = stage.screen.input
            written.load_text("fix the login, now")
            written.move_cursor((0, 0))
            await pilot.press(*keys)
            assert written.text == text, keys
            await pilot.press("escape", "escape")


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("dd", "b\nc"),
        ("ddp", "b\na\nc"),
        ("Gdd", "a\nb"),
        ("2dd", "c"),
        ("jddP", "a\nb\nc"),
        ("onew", "a\nnew\nb\nc"),
        ("jOnew", "a\nnew\nb\nc"),
        ("jccnew", "a\nnew\nc"),
    ],
)
async def test_lines_are_taken_and_put_whole(keys: str, text: str) -> None:
    async with normal("a\nb\nc", (0, 0)) as (stage, pilot):
        await pilot.press(*keys)
        assert stage.screen.input.text == text


async def test_escape_leaves_insert_mode_first_and_then_interrupts_and_enter_sends_from_both() -> None:
    async with normal("hello", (0, 0)) as (stage, pilot):
        stage.session.emit(*RUNNING)
        await pilot.pause()
        box = stage.screen.query_one("#input-box")
        assert str(box.border_subtitle) == "NORMAL"
        await pilot.press("2", "d")
        assert str(box.border_subtitle) == "NORMAL 2d"
        await pilot.press("escape", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "hello")]
        assert str(box.border_subtitle) == "INSERT"
        await pilot.press("x", "escape", "escape")
        assert sent(stage)[1:] == [InterruptRun()]
        await pilot.press("A", "y", "enter")
        assert sent(stage)[2:] == [AddComment(CommentId("t2"), "xy")]


async def test_a_paste_is_one_character_for_vims_keys_too() -> None:
    async with normal("", (0, 0)) as (stage, pilot):
        await pilot.press("i", "a")
        stage.screen.input.post_message(events.Paste("x\n" * 30))
        await pilot.pause()
        await pilot.press("b", "escape", "0", "l", "x")
        assert stage.screen.input.text == "ab"
        await pilot.press("u", "d", "w")
        assert "[paste" not in stage.screen.input.text


async def test_without_the_setting_escape_and_letters_mean_what_they_did() -> None:
    stage = Stage()
    async with stage.app.run_test(size=WIDE) as pilot:
        await ready(stage, pilot)
        await pilot.press("a", "escape", "x")
        assert stage.screen.input.text == "ax"
        assert not str(stage.screen.query_one("#input-box").border_subtitle)


@pytest.mark.parametrize(("theme", "size"), [("dark", SMALL), ("light", WIDE)], ids=["dark", "light"])
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme, has_vim_keys=True)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*RUNNING, answered(scenes.ANSWER))
        await pilot.pause(0.1)
        await pilot.press(*"把登录页改成两行", "escape", "3", "d")

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
