from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual import events

from tori_tui.ui.pastes import END, PASTE_CHARS, START, Pastes, split_pastes


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


def fed(*reads: str, is_full: bool = True) -> list[str]:
    pastes = Pastes()
    parts = [part for read in reads for part in pastes.feed(read, is_full=is_full)]
    return [f"paste:{part.text}" if isinstance(part, events.Paste) else part for part in parts]


def test_a_bracketed_paste_of_many_reads_is_one_and_in_order() -> None:
    body = "".join(f"{n:07} " for n in range(5_000))
    whole = f"{START}{body}{END}"
    reads = [whole[at : at + 4_096] for at in range(0, len(whole), 4_096)]
    assert fed(*reads) == [f"paste:{body}"]


@given(
    body=st.text(alphabet="ab\r\n\x1b[2014~中", max_size=60).filter(lambda text: END not in text),
    before=st.sampled_from(["", "a", "\x1b[A"]),
    after=st.sampled_from(["", "b", "\r"]),
    size=st.integers(1, 20),
)
def test_however_the_reads_are_cut_a_paste_stays_whole(body: str, before: str, after: str, size: int) -> None:
    whole = f"{before}{START}{body}{END}{after}"
    parts = fed(*(whole[at : at + size] for at in range(0, len(whole), size)))
    pasted = [part for part in parts if part.startswith("paste:")]
    if END not in (body + END)[: len(body) + len(END) - 1]:
        assert pasted == [f"paste:{body}"]
    assert "".join(part.removeprefix("paste:") for part in parts) == before + body + after


def test_an_escape_by_itself_is_a_key_at_once() -> None:
    assert fed("\x1b", is_full=False) == ["\x1b"]


def test_a_paste_without_an_end_is_handed_on_after_a_while() -> None:
    pastes = Pastes()
    assert list(pastes.feed(f"{START}half", is_full=False)) == []
    (part,) = [part for _ in range(30) for part in pastes.wait(0.1)]
    assert isinstance(part, events.Paste)
    assert part.text == "half"
