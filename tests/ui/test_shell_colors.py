from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style
from textual.pilot import Pilot

from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, result
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, ready
from tests.ui.test_themes import OF_FILES
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import COLORS
from tori_tui.ui.contrast import Rgb, contrast, readable
from tori_tui.ui.palette import Palette, palette_of
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.transcript.blocks import CallBlock
from tori_tui.ui.transcript.layout import block_lines
from tori_tui.ui.transcript.lines import strip_of
from tori_tui.ui.transcript.shell_colors import style_of
from tori_tui.workspace.terminal_colors import colored_parts
from tori_tui.workspace.terminal_text import plain_text

DIRECTORIES = theme_directories({"HOME": "/nonexistent"})
DARK = palette_of(load_theme("dark", DIRECTORIES))

CODES = (
    *(f"{n}" for n in (*range(30, 38), *range(90, 98), *range(40, 48), *range(100, 108))),
    *("1;31", "2", "2;34", "7", "7;31", "7;41", "31;41", "97;107", "30;40", "3;4;9"),
    *(f"38;5;{n}" for n in range(0, 256, 5)),
    *(f"48;5;{n}" for n in range(0, 256, 15)),
    *("38;2;0;0;0", "38;2;255;255;255", "38;2;128;128;128;48;2;127;127;127", "7;38;2;10;10;10"),
)


def shown_call(raw: str) -> CallBlock:
    text = plain_text(raw)
    parts = [list(part) for part in colored_parts(raw, text)]
    return CallBlock(
        CallId("c"), "bash", {"command": "x"}, state="done", output=text, details={COLORS: parts}
    )


def grounded(style: Style, palette: Palette) -> tuple[Rgb, Rgb]:
    whole = palette.base + style
    assert whole.color is not None
    assert whole.bgcolor is not None
    ink, ground = whole.color.get_truecolor(), whole.bgcolor.get_truecolor()
    return (ink[0], ink[1], ink[2]), (ground[0], ground[1], ground[2])


@pytest.mark.parametrize("theme", OF_FILES)
def test_whatever_a_program_chooses_can_be_read(theme: str) -> None:
    palette = palette_of(load_theme(theme, DIRECTORIES))
    for codes in CODES:
        assert contrast(*grounded(style_of(codes, palette), palette)) >= 4.49, codes


def test_colours_and_switches_are_kept() -> None:
    red = style_of("1;3;4;9;31", DARK)
    assert (red.bold, red.italic, red.underline, red.strike) == (True, True, True, True)
    assert red.color == DARK.error.color
    assert grounded(style_of("38;2;200;180;20", DARK), DARK)[0] == (200, 180, 20)
    assert style_of("2", DARK).color == DARK.muted.color
    assert style_of("99;x;;38;5;999;38", DARK) == Style()


def test_the_terminals_own_colours_stay_its_own() -> None:
    ansi = palette_of(load_theme("ansi", DIRECTORIES))
    style = style_of("7;31;44", ansi)
    assert style.color is not None
    assert style.bgcolor is not None
    assert (style.color.number, style.bgcolor.number, style.reverse) == (1, 4, True)
    assert style_of("38;2;20;20;60", ansi) == Style()
    assert style_of("38;5;208", ansi).color is not None


def test_a_part_keeps_its_colour_where_lines_are_wrapped_cut_and_left_out() -> None:
    raw = "\n".join(f"\x1b[3{n % 8}mline\t{n}\x1b[0m " + "中" * (n % 70) for n in range(900))
    lines = block_lines(shown_call(raw), 60, DARK, is_unfolded=True)
    assert "500 more lines" in lines[1].plain
    for line in lines[2:]:
        spans = [span for span in line.spans[1:] if isinstance(span.style, Style)]
        colored = "".join(line.plain[span.start : span.end] for span in spans)
        assert colored == "" or colored.split()[0] == "line"
        assert "中" not in colored


PIECES = st.sampled_from(
    (
        *(
            "a",
            "word ",
            "\n",
            "\r",
            "\r\n",
            "\x08",
            "\t",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b[38;5;9m",
            "中",
            "\x9b2J",
        ),
        *(
            "\x1b[2J",
            "\x1b]0;t\x07",
            "\x1b",
            "\x1b[",
            "\x07",
            "\x00",
            "\u202e",
            "\x1b]52;c;Zm9v\x07",
            "\x90q\x9c",
        ),
        *("\ufeff", "\u2028", "\x85", "\x1b[7;48;2;9;9;9m", "x" * 90),
    )
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(8, 70))
def test_no_control_character_of_an_output_is_ever_drawn(raw: str, width: int) -> None:
    for block in (
        shown_call(raw),
        CallBlock(CallId("c"), "bash", {"command": raw}, state="failed", output=raw),
    ):
        for unfolded in (False, True):
            for line in block_lines(block, width, DARK, is_unfolded=unfolded):
                strip = strip_of(line, width, DARK.base)
                assert not any(unicodedata.category(c) == "Cc" for s in strip for c in s.text)
                assert "\u202e" not in strip.text


@given(st.lists(st.lists(st.one_of(st.integers(-5, 50), st.text(max_size=3)), max_size=4), max_size=5))
def test_parts_of_a_broken_trace_do_no_harm(parts: list[list[int | str]]) -> None:
    block = CallBlock(
        CallId("c"), "bash", {"command": "x"}, state="done", output="one\ntwo\tthree", details={COLORS: parts}
    )
    shown = "".join(line.plain for line in block_lines(block, 40, DARK, is_unfolded=True))
    assert "one" in shown
    assert "three" in shown


@given(*[st.tuples(*[st.integers(0, 255)] * 3)] * 2)
def test_an_ink_is_brought_as_far_from_its_ground_as_reading_needs(ink: Rgb, ground: Rgb) -> None:
    found = readable(ink, ground)
    assert contrast(found, ground) >= 4.49
    if contrast(ink, ground) >= 4.5:
        assert found == ink


PYTEST = (
    "\x1b[1m=== 测试开始 ===\x1b[0m\n"
    "tests/test_login.py \x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[33ms\x1b[0m\n"
    "\x1b[31m\x1b[1mtests/test_login.py\x1b[0m:12: AssertionError: 密码错误\n"
    "\x1b[90;107m dim on white \x1b[0m \x1b[38;5;208m256 colours\x1b[0m \x1b[38;2;20;20;60mtoo dark\x1b[0m\n"
    "\x1b[7m reversed \x1b[0m \x1b[2mdim\x1b[0m \x1b[3;4mitalic, underlined\x1b[0m\n"
    "10 %\r\x1b[36m100 %\x1b[0m\r\n\x1b]0;title\x07\x1b[2J\x1b[31m1 failed\x1b[0m, \x1b[32m1 passed\x1b[0m\n"
)
GREP = "app/login.py\n12:def login(request):\n13-    user\n--\n40:login(登录)\ntests/test_login.py\n3:login"


@pytest.mark.parametrize(
    ("theme", "size"),
    [("dark", WIDE), ("light", SMALL), ("ansi", SMALL)],
    ids=["dark", "light-small", "ansi-small"],
)
def test_how_output_and_hits_look(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)
    text = plain_text(PYTEST)
    details = {COLORS: [list(part) for part in colored_parts(PYTEST, text)], "exit_code": 1}

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(
            *RUNNING,
            answered("", call("c1", "grep_files", pattern="login"), call("c2", "bash", command="pytest")),
            result("c1", GREP, name="grep_files"),
            result("c2", text, details=details, duration_s=2.0),
        )
        await pilot.pause(0.1)
        stage.screen.transcript.focus()
        await pilot.press("p", "enter", "p", "enter", "end")
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
