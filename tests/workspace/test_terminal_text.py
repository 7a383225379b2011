from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.workspace.terminal_text import plain_text

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[38:2::1:2:3mx", "x"),
        ("\x1b[2J\x1b[Hx", "x"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;Zm9v\x07x", "x"),
        ("\x1b]0;no end\nnext", "\nnext"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y\x1b7", "xy"),
        ("\x1b", ""),
        ("\x1b[", ""),
        ("a\0b\x07c\x7fd\x85e", "abcde"),
        ("N\x08Na\x08am", "Nam"),
        ("|\x08/\x08-\x08 done", " done"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("10%\r20%\r30%", "30%"),
        ("10%\r20%\r\nnext", "20%\nnext"),
        ("working\r\x1b[Kdone\n", "done\n"),
        ("kept\r   \r\n", "kept\n"),
        ("中\x1b[0m文", "中文"),
    ],
)
def test_what_stands_there_in_the_end(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(st.text(alphabet=st.sampled_from("ab\n\r\t\x08\x1b[]0;mP\\\x07\x9b\x9d\x00é"), max_size=60))
def test_no_control_code_is_left(text: str) -> None:
    assert CONTROL.search(plain_text(text)) is None


@given(st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs")), max_size=60))
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert plain_text(text) == text


@pytest.mark.parametrize("piece", ["\x1b", "\x1b[", "\x1b]", "\x1bP", "a\x08", "x\r", "\x1b[31m", "\x1b]0;"])
def test_hostile_output_takes_linear_time(piece: str) -> None:
    began = time.perf_counter()
    plain_text(piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - began < 2
