from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual import events

from tori_tui.ui.driver import PASTE_CHARS, split_pastes


def split(text: str, *, is_full: bool = False) -> list[str]:
    return [
        f"paste:{part.text}" if isinstance(part, events.Paste) else part
        for part in split_pastes(text, is_full=is_full)
    ]


def test_typing_is_typing() -> None:
    assert split("a") == ["a"]
    assert split("ab\r") == ["ab\r"]
    assert split("\r") == ["\r"]
    assert split("\x1b[A") == ["\x1b[A"]


def test_lines_in_one_read_are_a_paste_and_the_last_enter_still_sends() -> None:
    assert split("one\ntwo\rthree") == ["paste:one\ntwo\rthree"]
    assert split("one\rtwo\r") == ["paste:one\rtwo", "\r"]


def test_a_full_read_is_the_middle_of_a_paste_so_its_last_line_break_does_not_send() -> None:
    assert split("one\rtwo\r", is_full=True) == ["paste:one\rtwo\r"]


def test_much_text_at_once_is_a_paste() -> None:
    text = "x" * PASTE_CHARS
    assert split(text + "\r") == [f"paste:{text}", "\r"]


@given(st.text(alphabet="ab\r\n\t\x1b[中", max_size=80), st.booleans())
def test_no_character_is_lost_or_moved(text: str, is_full: bool) -> None:
    joined = "".join(part.removeprefix("paste:") for part in split(text, is_full=is_full))
    assert joined == text
