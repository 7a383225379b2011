from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered
from tests.ui.test_completion_popup import settled
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, ready, sent
from tori_tui.domain.commands import AddComment, WithdrawComment
from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import CommentReceived, RunStatusChanged
from tori_tui.domain.file_names import FileNames
from tori_tui.domain.ids import CommentId
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.shown_image import ShownImage

DOT = ContentPart("image", media_type="image/png", data="aGk=")
SHOT = "[image 1: 登录.png 640×480]"


def image_at(path: str) -> ShownImage | None:
    if path.endswith("broken.png"):
        raise UsageError(f"{path} is no whole PNG.", "It may be cut off.")
    if path.endswith("none.png"):
        return None
    return ShownImage("登录.png", DOT, 640, 480, path)


@asynccontextmanager
async def writing(*, theme: str = "dark") -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    stage = Stage(image=image_at, theme=theme, files=lambda stop: FileNames(("登录.png", "a.py")))
    async with stage.app.run_test(size=WIDE) as pilot:
        await ready(stage, pilot)
        yield stage, pilot


async def read(stage: Stage, pilot: Pilot[None]) -> None:
    for _ in range(300):
        await pilot.pause(0.01)
        if not any(worker.group in ("images", "clipboard") for worker in stage.app.workers):
            break
    await pilot.pause()


async def test_a_dropped_file_becomes_a_word_that_is_deleted_by_one_key_and_sent_as_an_image() -> None:
    async with writing() as (stage, pilot):
        await pilot.press(*"see ")
        stage.screen.input.post_message(events.Paste("/tmp/x/登录.png"))
        await read(stage, pilot)
        assert stage.screen.input.text == f"see {SHOT}"
        await pilot.press("left", "x", "end", "backspace")
        assert stage.screen.input.text == "see x"
        await pilot.press("ctrl+underscore", "enter")
        await pilot.pause()
        assert sent(stage) == [AddComment(CommentId("t1"), f"see x{SHOT}", images=(DOT,))]
        assert stage.remembered == ["see x@/tmp/x/登录.png"]
        await pilot.press("up")
        assert stage.screen.input.text == f"see x{SHOT}"


async def test_a_mention_is_an_image_once_it_is_chosen_or_sent() -> None:
    async with writing() as (stage, pilot):
        await pilot.press(*"@登")
        await settled(stage, pilot)
        await pilot.press("tab")
        await read(stage, pilot)
        assert stage.screen.input.text == f"{SHOT} "
        await pilot.press(*"and @none.png, @b.png", "enter")
        await read(stage, pilot)
        words = f"{SHOT} and @none.png, [image 2: 登录.png 640×480]"
        assert sent(stage) == [AddComment(CommentId("t1"), words, images=(DOT, DOT))]
        assert stage.remembered == ["@登录.png and @none.png, @b.png"]


async def test_a_broken_image_is_told_and_the_draft_stays_until_it_is_sent_again() -> None:
    async with writing() as (stage, pilot):
        await pilot.press(*"see @broken.png", "enter")
        await read(stage, pilot)
        assert sent(stage) == []
        assert stage.screen.input.text == "see @broken.png"
        shown = "\n".join(stage.screen.transcript.shown_text)
        assert "broken.png is no whole PNG" in shown
        assert "without it" in shown
        await pilot.press("enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "see @broken.png")]


@pytest.mark.parametrize("how", ["key", "empty paste"])
async def test_the_clipboards_image_is_shown(how: str) -> None:
    async with writing() as (stage, pilot):
        await pilot.press("ctrl+v")
        await read(stage, pilot)
        assert any("holds no image" in line for line in stage.screen.transcript.shown_text)
        stage.clipboard = ShownImage("clipboard", DOT, 10, 20)
        if how == "key":
            await pilot.press("ctrl+v")
        else:
            stage.screen.input.post_message(events.Paste(""))
        await read(stage, pilot)
        assert stage.screen.input.text == "[image 1: clipboard 10×20]"


async def test_a_model_that_sees_nothing_is_named_once() -> None:
    async with writing() as (stage, pilot):
        stage.sees_images, stage.clipboard = False, ShownImage("clipboard", DOT, 10, 20)
        for _ in range(2):
            await pilot.press("ctrl+v")
            await read(stage, pilot)
        shown = "\n".join(stage.screen.transcript.shown_text)
        assert shown.count("replay/x is not known to see images") == 1


async def test_a_comment_that_is_taken_back_and_a_prompt_that_is_interrupted_keep_their_images() -> None:
    waiting = CommentReceived(CommentId("k1"), f"as in {SHOT}", images=(DOT,))
    async with writing() as (stage, pilot):
        stage.session.emit(*RUNNING, waiting)
        await pilot.pause()
        await pilot.press("up", "enter")
        await pilot.pause()
        again = AddComment(CommentId("t1"), waiting.text, images=(DOT,))
        assert sent(stage) == [WithdrawComment(waiting.comment_id), again]
        stage.session.emit(RunStatusChanged("interrupted"))
        await pilot.pause()
        await pilot.press("enter")
        assert sent(stage)[-1] == AddComment(CommentId("t2"), waiting.text, images=(DOT,))


async def test_the_cursor_never_stands_in_a_word_that_stands_for_much() -> None:
    async with writing() as (stage, pilot):
        stage.clipboard = ShownImage("clipboard", DOT, 10, 20)
        await pilot.press("a", "ctrl+v")
        await read(stage, pilot)
        await pilot.press("b", "home", "right", "right")
        written = stage.screen.input
        assert written.cursor_location == (0, len(written.text) - 1)
        written.move_cursor((0, 4))
        assert written.cursor_location == (0, 1)
        await pilot.press("ctrl+right")
        assert written.cursor_location[1] >= len(written.text) - 1
        await pilot.press("home", "right", "delete")
        assert written.text == "ab"


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light"])
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme, image=image_at)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*RUNNING, answered(scenes.ANSWER))
        await pilot.pause(0.1)
        await pilot.press(*"按这张图来 ")
        stage.screen.input.post_message(events.Paste("/tmp/x/登录.png"))
        await read(stage, pilot)
        await pilot.press(*" and the text in ")
        stage.screen.input.post_message(events.Paste("line\n" * 40))
        await pilot.pause()

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
