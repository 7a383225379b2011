from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets import Input

from tests.faults.session_kit import TOO_LARGE, WireRefusal, WireReply, call, does, on_wire
from tests.ui import scenes
from tests.ui.fakes import answered
from tests.ui.test_session_screen import RUNNING, live
from tests.ui.test_sessions import Choosing, World
from tests.ui.test_themes import DIRECTORIES, OF_FILES, contrast
from tests.wire.answers import in_order
from tori_tui.cli.terminal import EarlyTerminal
from tori_tui.domain.commands import AddComment, CompactContext, DecideApproval, SubmitPrompt
from tori_tui.domain.events import MessageAdded, TextStreamed, ToolRunStarted
from tori_tui.domain.ids import MAIN_CONTEXT, CommentId
from tori_tui.ui.actions import ACTIONS, shown_keys
from tori_tui.ui.themes import load_theme
from tori_tui.workspace.file_names import list_files


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


async def test_two_hundred_lines_pasted_while_streaming_are_one_message() -> None:
    text = "".join(f"line {n}\r" for n in range(200))
    async with live(RUNNING) as (stage, pilot):
        stage.screen.input.post_message(events.Paste(text))
        for n in range(20):
            stage.session.emit(TextStreamed(MAIN_CONTEXT, f"answer {n} "))
        await pilot.pause()
        assert stage.session.sent == []
        await pilot.press("enter")
        (command,) = stage.session.sent
    assert isinstance(command, AddComment)
    assert command.text.splitlines() == [f"line {n}" for n in range(200)]


async def test_lines_pasted_into_any_field_are_all_kept() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.screen.input.post_message(events.Paste("one\r\ntwo\nthree"))
        await pilot.pause()
        assert stage.screen.input.text == "one\ntwo\nthree"
    async with live(scenes.asking_command()) as (stage, pilot):
        stage.clock.now_s += 1
        await pilot.press("n")
        stage.screen.input.post_message(events.Paste("one\ntwo\nthree"))
        await pilot.pause()
        await pilot.press("enter")
        (decision,) = stage.session.sent
        assert isinstance(decision, DecideApproval)
        assert decision.reason == "one\ntwo\nthree"
    # A search is one line, so that its lines become words of it. There is no field for keys.
    app = Choosing(World())
    async with app.run_test(size=(120, 30)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        field = app.screen.query_one(Input)
        field.post_message(events.Paste("mend\nthe login\n"))
        await pilot.pause()
        assert field.value == "mend the login"


WIDE = ("あ", "👨‍👩‍👧", "e\u0301", "ﾊﾝ", "中")


@pytest.mark.parametrize("text", ["あいう", "a👨‍👩‍👧b", "e\u0301e\u0301", "ﾊﾝｶｸ", "中a中"])
async def test_the_terminals_cursor_stands_at_the_caret(text: str) -> None:
    async with live() as (stage, pilot):
        stage.screen.input.insert(text)
        await pilot.pause()
        area = stage.screen.input.content_region
        assert stage.app.cursor_position.x - area.x == cell_len(text)
        assert stage.app.cursor_position.y == area.y


@pytest.mark.parametrize("grapheme", WIDE)
async def test_backspace_takes_one_character_as_people_count_them(grapheme: str) -> None:
    async with live() as (stage, pilot):
        stage.screen.input.insert(f"a{grapheme}")
        await pilot.press("backspace")
        # Half-width kana are a character each.
        assert stage.screen.input.text == ("aﾊ" if grapheme == "ﾊﾝ" else "a")
        await pilot.press("backspace")
        await pilot.press("backspace")
        assert stage.screen.input.text == ""


async def test_the_view_stays_where_the_reader_is_while_five_hundred_lines_stream() -> None:
    async with live([*RUNNING, answered("\n\n".join(f"line {n}" for n in range(200)))]) as (stage, pilot):
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = stage.screen.transcript.shown_text
        for n in range(500):
            stage.session.emit(TextStreamed(MAIN_CONTEXT, f"more {n}\n\n"))
            if n % 50 == 0:
                stage.clock.now_s += 1
                await pilot.pause(0.02)
                assert stage.screen.transcript.shown_text == before
        await pilot.press("end")
        await pilot.pause(0.1)
        assert stage.screen.transcript.is_following


def test_the_hint_for_a_line_break_names_a_key_that_works_everywhere() -> None:
    newline = next(action for action in ACTIONS if action.name == "newline")
    assert shown_keys(newline).startswith("Ctrl+J")


@pytest.mark.parametrize("name", OF_FILES)
def test_body_text_has_contrast_in_every_theme(name: str) -> None:
    colors = load_theme(name, DIRECTORIES).colors
    assert contrast(colors.foreground, colors.background) >= 4.5


@pytest.mark.parametrize(("colorfgbg", "is_dark"), [("0;15", False), ("15;0", True), ("", True)])
def test_the_environment_says_whether_the_terminal_is_light(colorfgbg: str, is_dark: bool) -> None:
    terminal = EarlyTerminal({"COLORFGBG": colorfgbg, "TERM": "xterm-16color"})
    assert terminal.has_dark_background() is is_dark


async def comments_while_it_works(tree: Path, *answers: object, compacts: bool = False) -> list[str]:
    """Queue two messages in a run, and return what of the user's the trace holds at the end."""
    slow = does(call("bash", command="sleep 0.5"))
    script = in_order(slow, *answers)  # type: ignore[arg-type]
    async with on_wire(script, tree, waits=False) as (_, driver):
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        if compacts:
            driver.session.send(CompactContext())
        driver.session.send(AddComment(CommentId("c1"), "the first"))
        driver.session.send(AddComment(CommentId("c2"), "the second"))
        state = await driver.until_ended()
        said = [
            e.message.text for e in driver.events if isinstance(e, MessageAdded) and e.message.is_users_word
        ]
        return [*said, *(comment.text for comment in state.comments.values())]


async def test_queued_messages_are_sent_in_order_and_recorded_once(tree: Path) -> None:
    said = await comments_while_it_works(tree, WireReply("Both heard."))
    assert said == ["go", "the first", "the second"]


async def test_queued_messages_survive_a_server_that_fails(tree: Path) -> None:
    broken = [WireRefusal(500, {"error": {"message": "broken"}}) for _ in range(6)]
    said = await comments_while_it_works(tree, *broken)
    assert said == ["go", "the first", "the second"]


@pytest.mark.parametrize("answer", [WireReply("Both heard."), TOO_LARGE])
async def test_queued_messages_survive_a_fold_by_hand(tree: Path, answer: object) -> None:
    said = await comments_while_it_works(tree, answer, TOO_LARGE, TOO_LARGE, compacts=True)
    assert said == ["go", "the first", "the second"]


def test_file_names_for_the_picker_come_in_time_or_not_at_all(tmp_path: Path) -> None:
    empty, gone, many = tmp_path / "empty", tmp_path / "gone", tmp_path / "many"
    empty.mkdir()
    many.mkdir()
    for n in range(3_000):
        folder = many / f"d{n % 30}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{n}").touch()
    assert list_files(empty).paths == ()
    assert "cannot be read" in list_files(gone).fault
    # A folder without an end, as 300,000 files on a slow disk are: the look ends with what it has.
    began = time.monotonic()
    some = list_files(many, limit=1_000, limit_s=0.5)
    assert time.monotonic() - began < 2
    assert 0 < len(some.paths) <= 1_000


async def test_at_sign_in_a_folder_that_went_away_leaves_the_screen_alive(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.chdir(place)
    place.rmdir()
    try:
        async with live() as (stage, pilot):
            await pilot.press("@", "a")
            await pilot.pause(0.2)
            assert stage.screen.input.text == "@a"
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert stage.screen.input.text == ""
    finally:
        os.chdir("/")
