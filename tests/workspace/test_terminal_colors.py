from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.workspace.terminal_colors import ColoredPart, colored_parts
from tori_tui.workspace.terminal_text import plain_text


def looks(raw: str) -> list[tuple[str, str]]:
    text = plain_text(raw)
    return [(text[start:end], codes) for start, end, codes in colored_parts(raw, text)]


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ("plain", []),
        ("\x1b[31mred\x1b[0m plain", [("red", "31")]),
        ("\x1b[31mred\x1b[m plain", [("red", "31")]),
        ("\x1b[1;31mred\nstill\x1b[22mthin", [("red", "1;31"), ("still", "1;31"), ("thin", "31")]),
        ("\x1b[38;5;208mx\x1b[39my", [("x", "38;5;208")]),
        ("\x1b[38;2;1;2;3;7mx", [("x", "7;38;2;1;2;3")]),
        ("\x1b[38:2::1:2:3mx\x1b[48:5:9my", [("x", "38;2;1;2;3"), ("y", "38;2;1;2;3;48;5;9")]),
        ("\x1b[97;41mx\x1b[100my\x1b[49mz", [("x", "97;41"), ("y", "97;100"), ("z", "97")]),
        ("\x1b[3;4;9mx\x1b[23;24;29my", [("x", "3;4;9")]),
        ("\x1b[4:3mx\x1b[4:0my", [("x", "4")]),
        ("\x9b32mx", [("x", "32")]),
        ("\x1b[38;5;999mx\x1b[38;5mx\x1b[99mx\x1b[;;mx\x1b[8mx", []),
        ("\x1b[>4;2mx\x1b[?25lx", []),
        ("\x1b[32m10%\r\x1b[33m20%\r\n\x1b[34mnext", [("20%", "33"), ("next", "34")]),
        ("\x1b[32mbusy\rdone", [("done", "32")]),
        ("\x1b[32mdone\r\x1b[K\x1b[0m\n", [("done", "32")]),
        ("\x1b[1mN\x08Na\x08a\x1b[0mme", [("Na", "1")]),
        ("\x1b[31m中文\x1b[0m", [("中文", "31")]),
        ("\x1b]8;;http://a\x1b\\\x1b[36mlink\x1b]8;;\x1b\\", [("link", "36")]),
    ],
)
def test_each_part_has_the_look_that_was_on_when_it_was_printed(
    raw: str, parts: list[tuple[str, str]]
) -> None:
    assert looks(raw) == parts


def test_lines_are_found_again_where_others_were_left_out_or_put_between() -> None:
    raw = "\x1b[32mok\x1b[0m 1\n\x1b[31mbad\x1b[0m 2\n\x1b[32mok\x1b[0m 1\n"
    text = "[1 line left out]\nbad 2\nok 1\n[exit 1]"
    assert [(text[a:b], codes) for a, b, codes in colored_parts(raw, text)] == [("bad", "31"), ("ok", "32")]


PIECES = st.sampled_from(
    (
        *(
            "a",
            "b c",
            "\n",
            "\r",
            "\r\n",
            "\x08",
            "\t",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b[1;4m",
            "\x1b[38;5;7m",
            "中",
        ),
        *(
            "\x1b[K",
            "\x1b]0;t\x07",
            "\x1b",
            "\x1b[",
            "\x9b7m",
            "\x00",
            " ",
            "\x1b[48;2;1;2;3m",
            "\x1bP\nq\x1b\\",
        ),
    )
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_parts_lie_in_the_plain_text_in_order_and_name_only_known_numbers(raw: str) -> None:
    text = plain_text(raw)
    parts = colored_parts(raw, text)
    ends = [place for part in parts for place in (part.start, part.end)]
    assert ends == sorted(ends)
    assert all(0 <= part.start < part.end <= len(text) for part in parts)
    assert all(re.fullmatch(r"\d+(;\d+)*", part.codes) for part in parts)
    assert not any("\n" in text[part.start : part.end] for part in parts)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_every_line_of_the_plain_text_is_found(raw: str) -> None:
    marked = "\x1b[31m" + raw.replace("\x1b[0m", "").replace("\x1b[K", "")
    text = plain_text(marked)
    shown = {i for start, end, _ in colored_parts(marked, text) for i in range(start, end)}
    assert all(i in shown or character == "\n" for i, character in enumerate(text))


def test_much_colour_takes_linear_time() -> None:
    raw = "\x1b[31mx\x1b[0m y\r" * 14_000
    began_s = time.process_time()
    assert colored_parts(raw, plain_text(raw)) == [ColoredPart(0, 1, "31")]
    assert time.process_time() - began_s < 1
