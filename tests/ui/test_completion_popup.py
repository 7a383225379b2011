from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, ready, sent
from tori_tui.domain.commands import AddComment, InterruptRun, SwitchMode, UndoRewind
from tori_tui.domain.file_names import FileNames
from tori_tui.domain.ids import CommentId
from tori_tui.ui.widgets.completion_popup import CompletionPopup

FILES = (
    "README.md",
    "app/login.py",
    "app/models/user.py",
    "docs/guide 1.md",
    "docs/安装说明.md",
    "tests/test_login.py",
    "tests/测试登录.py",
)


def found(should_stop: Callable[[], bool]) -> FileNames:
    return FileNames(FILES)


@asynccontextmanager
async def written(
    *keys: str,
    files: Callable[[Callable[[], bool]], FileNames] = found,
    size: tuple[int, int] = (120, 40),
    is_running: bool = False,
) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    stage = Stage(files=files)
    async with stage.app.run_test(size=size) as pilot:
        await ready(stage, pilot)
        stage.session.emit(*(RUNNING if is_running else scenes.working_session()))
        await pilot.pause()
        await pilot.press(*keys)
        await settled(stage, pilot)
        yield stage, pilot


async def settled(stage: Stage, pilot: Pilot[None]) -> None:
    """Wait until the files that were asked for are there."""
    popup = stage.screen.popup
    for _ in range(300):
        await pilot.pause(0.01)
        if not any(worker.is_running for worker in popup.workers if worker.node is popup):
            break
    await pilot.pause()


def offered(stage: Stage) -> list[str]:
    offer = stage.screen.popup.offer
    return [s.shown for s in offer.suggestions] if offer else []


async def test_tab_takes_the_file_and_a_blank_follows() -> None:
    async with written(*"see @login") as (stage, pilot):
        assert offered(stage) == ["app/login.py", "tests/test_login.py"]
        await pilot.press("tab")
        assert stage.screen.input.text == "see @app/login.py "
        assert not stage.screen.popup.display
        await pilot.press(*"now")
        assert stage.screen.input.text == "see @app/login.py now"


async def test_enter_takes_the_marked_one_and_sends_at_the_next() -> None:
    async with written(*"@login", "down") as (stage, pilot):
        await pilot.press("enter")
        assert stage.screen.input.text == "@tests/test_login.py "
        assert sent(stage) == []
        await pilot.press("enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "@tests/test_login.py ")]


async def test_up_goes_to_the_last_one_and_down_comes_back() -> None:
    async with written(*"@login", "up") as (stage, pilot):
        await pilot.press("down", "tab")
        assert stage.screen.input.text == "@app/login.py "


async def test_a_folder_goes_on_with_what_is_in_it() -> None:
    async with written(*"@mod") as (stage, pilot):
        assert offered(stage)[0] == "app/models/"
        await pilot.press("tab")
        await settled(stage, pilot)
        assert stage.screen.input.text == "@app/models/"
        assert offered(stage) == ["app/models/", "app/models/user.py"]
        await pilot.press("down", "tab")
        assert stage.screen.input.text == "@app/models/user.py "


async def test_a_name_with_a_blank_is_quoted() -> None:
    async with written(*"@guide") as (stage, pilot):
        await pilot.press("tab")
        assert stage.screen.input.text == '@"docs/guide 1.md" '


async def test_wide_names_are_found_by_wide_letters_in_the_middle_of_a_text() -> None:
    async with written(*"看里面", "left", "left") as (stage, pilot):
        # The pilot knows no key for it.
        stage.screen.input.post_message(events.Key("fullwidth_commercial_at", "＠"))
        await pilot.press("装")
        await settled(stage, pilot)
        assert (stage.screen.input.text, offered(stage)) == ("看＠装里面", ["docs/安装说明.md"])
        await pilot.press("tab")
        assert stage.screen.input.text == "看@docs/安装说明.md 里面"
        await pilot.press("x")
        assert stage.screen.input.text == "看@docs/安装说明.md x里面"


async def test_escape_closes_and_does_not_interrupt() -> None:
    async with written(*"@login", is_running=True) as (stage, pilot):
        await pilot.press("escape")
        assert not stage.screen.popup.is_open
        assert sent(stage) == []
        await pilot.press("x")
        assert not stage.screen.popup.is_open, "it stays closed for that word"
        await pilot.press("escape")
        assert sent(stage) == [InterruptRun()]
        await pilot.press(*" @us")
        await settled(stage, pilot)
        assert stage.screen.popup.is_open


async def test_goals_are_offered_by_words_and_by_id() -> None:
    async with written(*"as in #login") as (stage, pilot):
        assert offered(stage) == ["2'.2"]
        await pilot.press("enter")
        assert stage.screen.input.text == "as in #2'.2 "
        await pilot.press(*"#2'.2", "enter")
        assert len(sent(stage)) == 1, "what stands there already is sent"


async def test_a_command_is_completed_and_its_arguments_are_offered() -> None:
    async with written(*"/mo", "down") as (stage, pilot):
        assert offered(stage)[:2] == ["/mode plan | ask | edit | auto", "/model [NAME]"]
        await pilot.press("up", "tab")
        assert stage.screen.input.text == "/mode "
        assert offered(stage) == ["plan", "ask", "edit", "auto"]
        await pilot.press("down", "down", "enter")
        assert stage.screen.input.text == "/mode edit"
        await pilot.press("enter")
        assert sent(stage) == [SwitchMode("edit")]


async def test_a_command_that_is_whole_is_sent_by_one_enter() -> None:
    async with written(*"/undo", "enter") as (stage, _):
        assert sent(stage) == [UndoRewind()]
        assert not stage.screen.popup.display


async def test_behind_a_command_that_takes_a_text_its_form_is_told_and_enter_sends() -> None:
    async with written(*"/now mind the gap") as (stage, pilot):
        offer = stage.screen.popup.offer
        assert offer is not None
        assert offer.note.startswith("/now TEXT")
        await pilot.press("enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "mind the gap", "now")]


async def test_backspace_offers_for_the_shorter_word() -> None:
    async with written(*"@loginx", "backspace") as (stage, pilot):
        await settled(stage, pilot)
        assert offered(stage) == ["app/login.py", "tests/test_login.py"]
        await pilot.press(*["backspace"] * 6)
        assert not stage.screen.popup.display


async def test_a_click_takes_the_row() -> None:
    async with written(*"@login") as (stage, pilot):
        await pilot.click(CompletionPopup, offset=(6, 2))
        assert stage.screen.input.text == "@tests/test_login.py "
        await pilot.press("x")
        assert stage.screen.input.text.endswith("x"), "the keys stay in the input"


async def test_the_wheel_moves_the_mark() -> None:
    async with written(*"@login") as (stage, pilot):
        await pilot._post_mouse_events([events.MouseScrollDown], CompletionPopup, offset=(4, 1))
        await pilot.press("tab")
        assert stage.screen.input.text == "@tests/test_login.py "


async def test_looking_through_a_huge_folder_blocks_no_key() -> None:
    is_let_go = threading.Event()

    def slow(should_stop: Callable[[], bool]) -> FileNames:
        while not is_let_go.wait(0.01) and not should_stop():
            pass
        return FileNames(tuple(f"src/module_{n}.py" for n in range(100_000)), is_complete=False)

    stage = Stage(files=slow)
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        await pilot.press(*"@module_99999")
        assert stage.screen.input.text == "@module_99999"
        offer = stage.screen.popup.offer
        assert offer is not None
        assert offer.note == "looking for files …"
        is_let_go.set()
        longest_s = 0.0
        for _ in range(500):
            begun_s = time.perf_counter()
            await asyncio.sleep(0.002)
            longest_s = max(longest_s, time.perf_counter() - begun_s)
            if offered(stage):
                break
        await pilot.pause()
        assert offered(stage)[0] == "src/module_99999.py"
        offer = stage.screen.popup.offer
        assert offer is not None
        assert offer.note == "only the first 100,000 files are looked through"
        assert longest_s < 0.5


async def test_leaving_while_files_are_looked_for_waits_for_nothing() -> None:
    def endless(should_stop: Callable[[], bool]) -> FileNames:
        while not should_stop():
            time.sleep(0.01)
        return FileNames()

    stage = Stage(files=endless)
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        await pilot.press("@", "ctrl+q")
    assert stage.session.is_closed


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (FileNames(), "no files here"),
        (FileNames(fault="/x cannot be read: Permission denied"), "/x cannot be read: Permission denied"),
        (FileNames(("a",)), "no such file"),
    ],
)
async def test_nothing_to_offer_says_why_and_keys_mean_what_they_did(names: FileNames, note: str) -> None:
    async with written(*"@zz", files=lambda stop: names) as (stage, pilot):
        offer = stage.screen.popup.offer
        assert offer is not None
        assert offer.note == note
        await pilot.press("tab", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "@zz")]


@pytest.mark.parametrize(
    ("name", "keys", "theme", "size"),
    [
        ("files", "see @lo", "dark", WIDE),
        ("files", "看@", "light", SMALL),
        ("commands", "/mo", "light", WIDE),
        ("commands", "/rem", "dark", SMALL),
        ("goals", "wie in #", "dark", SMALL),
        ("arguments", "/mode ", "light", SMALL),
        ("form", "/now 先测试登录", "dark", WIDE),
        ("nothing", "@zzzz", "light", WIDE),
    ],
    ids=lambda value: value if str(value).isalpha() else "",
)
def test_how_it_looks(snap_compare: Compare, name: str, keys: str, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme, files=found)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        await pilot.pause(0.1)
        await pilot.press(*keys)
        await settled(stage, pilot)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
