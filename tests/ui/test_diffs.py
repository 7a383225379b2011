from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.scenes import DIFF
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.ids import ApprovalId, CallId
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.transcript.blocks import CallBlock
from tori_tui.ui.transcript.diffs import DiffForm, diff_lines
from tori_tui.ui.transcript.layout import block_lines
from tori_tui.ui.transcript.question import question_lines

PALETTE = palette_of(load_theme("dark", theme_directories({"HOME": "/nonexistent"})))

CHINESE = """--- a/app/登录.py
+++ b/app/登录.py
@@ -1,4 +1,5 @@
 # 登录页面：检查用户名与密码
-消息 = "密码错误，请重试；如果多次失败，请联系管理员，或者使用邮箱找回您的密码，谢谢您的耐心与配合"
+消息 = "密码不正确，请重试；如果多次失败，请联系管理员，或者使用邮箱找回您的密码，谢谢您的耐心与配合"
+限制 = 5
 返回 = 消息  # ✓ 完成
 
"""


def shown(diff: str, width: int, form: DiffForm = "auto") -> list[str]:
    return [line.plain.rstrip() for line in diff_lines(diff, width, PALETTE, form=form)]


def test_in_a_wide_place_old_and_new_stand_beside_each_other_with_numbers_and_marks() -> None:
    lines = shown(DIFF, 130)
    removed = next(line for line in lines if "user.password ==" in line)
    left, _, right = removed.partition(" │ ")
    assert left.startswith('15 -     if user.password == request.form["password"]:')
    assert right.startswith('15 +     if not bcrypt.checkpw(request.form["password"].encode')
    assert next(line for line in lines if "session[" in line).partition(" │ ")[0].strip() == ""
    assert all(line.index("│") == lines[0].index("│") for line in lines)


def test_elsewhere_one_stands_below_the_other_unless_the_user_wants_it() -> None:
    assert not any("│" in line for line in shown(DIFF, 119))
    assert all("│" in line for line in shown(DIFF, 90, "side"))
    assert not any("│" in line for line in shown(DIFF, 50, "side"))
    assert not any("│" in line for line in shown(DIFF, 160, "unified"))


def test_a_new_file_has_no_empty_half() -> None:
    assert not any("│" in line for line in shown("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", 140))


def test_changed_words_are_marked_without_a_colour() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-total = price * count\n+total = price * number\n"
    removed, added = diff_lines(diff, 80, PALETTE)

    def marked(line: Text) -> list[str]:
        spans = [span for span in line.spans if isinstance(span.style, Style) and span.style.underline]
        return [line.plain[span.start : span.end] for span in spans]

    assert marked(removed) == ["count"]
    assert marked(added) == ["number"]


def test_a_long_line_goes_on_visibly() -> None:
    lines = shown(CHINESE, 60)
    assert [line.split()[0] for line in lines[2:6]] == ["↳", "2", "↳", "3"]


texts = st.lists(st.text(alphabet="ab 中文é\t👍x", max_size=70), max_size=8)


@given(texts, texts, st.integers(20, 150), st.sampled_from(["auto", "unified", "side"]))
def test_every_line_fills_its_width_and_no_letter_is_lost(
    old: list[str], new: list[str], width: int, form: DiffForm
) -> None:
    diff = "\n".join(difflib.unified_diff(old, [*new, "x"], "a/x", "b/x", n=20, lineterm=""))
    lines = diff_lines(diff, width, PALETTE, form=form)
    assert all(cell_len(line.plain) == width for line in lines)
    drawn = "".join(line.plain for line in lines)
    sides = (old, new) if "│" in drawn else ((), [] if old == [*new, "x"] else new)
    n_letters = sum(drawn.count(letter) for letter in "ab中文x")
    assert n_letters >= sum(line.count(letter) for side in sides for line in side for letter in "ab中文x")


def test_a_command_that_begins_like_a_diff_is_a_command() -> None:
    block = CallBlock(
        CallId("c"), "bash", {"command": "diff -u a b"}, state="done", output="same", detail="diff -u a b"
    )
    assert [line.plain.rstrip() for line in block_lines(block, 60, PALETTE, is_unfolded=True)][
        1
    ] == "  │ same"


def test_a_question_shows_all_of_a_command_that_holds_a_diff_and_its_last_words_as_words() -> None:
    command = "patch -p1 <<E\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\nE\nrm -rf ~"
    asked = ApprovalChanged(
        ApprovalId("a1"), CallId("c9"), "bash", "bash patch", "asked", f"{command}\n\n(runs in /tmp/for in)"
    )
    lines = [
        line for part in question_lines(asked, 80, PALETTE, form="auto", has_goal=False) for line in part
    ]
    assert [line.plain for line in lines] == [*command.split("\n"), "", "(runs in /tmp/for in)"]
    assert lines[-1].spans == []
    assert lines[-1].style == PALETTE.muted


async def test_v_switches_every_diff_and_the_page_keeps_the_form() -> None:
    async with live(scenes.working_session(), size=(150, 40)) as (stage, pilot):
        transcript = stage.screen.transcript
        transcript.focus()
        assert not any(" │ " in line for line in transcript.shown_text if "bcrypt.checkpw(req" in line)
        await pilot.press("v")
        assert any(" │ " in line for line in transcript.shown_text if "bcrypt.checkpw(req" in line)
        await pilot.press("p", "p", "d")
        await pilot.pause(0.1)
        page = stage.app.screen
        assert isinstance(page, DiffPage)
        assert any(" │ " in line for line in page.page.shown_text)
        await pilot.press("v")
        assert not any(" │ " in line for line in page.page.shown_text)
        await pilot.press("escape")
        assert stage.app.screen is stage.screen


@pytest.mark.parametrize(
    ("theme", "size", "diff"),
    [("dark", WIDE, DIFF), ("light", WIDE, CHINESE), ("light", SMALL, CHINESE), ("ansi", SMALL, DIFF)],
    ids=["dark", "light-chinese", "light-small-chinese", "ansi-small"],
)
def test_how_a_diff_page_looks_side_by_side(
    snap_compare: Compare, theme: str, size: tuple[int, int], diff: str
) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.screen.transcript.show_diffs("side")
        stage.screen.show_diff("2 Login endpoint", diff)
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)


def test_how_a_question_looks_side_by_side(snap_compare: Compare) -> None:
    stage = Stage()

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.asking_edit())
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=(150, 40), run_before=play)
