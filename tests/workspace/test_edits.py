from __future__ import annotations

import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tori_tui.workspace.edits import EditRefused, replace_text
from tori_tui.workspace.encoding import readings


def edited(data: bytes, old: str, new: str, replace_all: bool = False) -> bytes:
    return replace_text(data, old, new, replace_all).data


def refusal(data: bytes, old: str, new: str, replace_all: bool = False) -> str:
    with pytest.raises(EditRefused) as caught:
        replace_text(data, old, new, replace_all)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        pytest.param(b"a = 1\n", "1", "2", b"a = 2\n", id="plain"),
        pytest.param(b"a = 1", "a = 1", "a = 2", b"a = 2", id="no final newline"),
        pytest.param(b"a = 1", "a = 1\n", "a = 2\n", b"a = 2", id="final newline only in old"),
        pytest.param(b"a\r\nb\r\nc\r\n", "b", "x", b"a\r\nx\r\nc\r\n", id="CRLF"),
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n", id="CRLF, lines"),
        pytest.param(b"a\r\nb\r\nc\r\n", "a\r\nb", "a\r\nx", b"a\r\nx\r\nc\r\n", id="CRLF in the call too"),
        pytest.param(b"a\nb\n", "a\r\nb", "a\r\nx", b"a\nx\n", id="CRLF in the call only"),
        pytest.param(b"a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\nc\r\n", id="mixed line ends"),
        pytest.param(b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n", id="new line at its place's end"),
        pytest.param(b"a\r\nb\r\n", "a\n", "", b"b\r\n", id="a line removed"),
        pytest.param(b"\xef\xbb\xbfhello\n", "hello", "hello2", b"\xef\xbb\xbfhello2\n", id="BOM"),
        pytest.param(b"\xef\xbb\xbfa\n", "\ufeffa", "\ufeffb", b"\xef\xbb\xbfb\n", id="BOM in the call too"),
        pytest.param(b"x = 1;\n// caf\xe9\n", "x = 1", "x = 2", b"x = 2;\n// caf\xe9\n", id="Latin-1"),
        pytest.param(b"caf\xe9 1\n", "café 1", "thé 2", b"th\xe9 2\n", id="Latin-1 in the span"),
        pytest.param(b"\xa9 \xc3\xa9\xc3\xa8 1", "éè 1", "éè 2", b"\xa9 \xc3\xa9\xc3\xa8 2", id="broken"),
        pytest.param(b"\x931\x94\n", "“1”", "“2”", b"\x932\x94\n", id="Windows quotes"),
        pytest.param(b"a\x00b\n", "b", "c", b"a\x00c\n", id="NUL"),
        pytest.param(b"a\rb\r", "b", "c", b"a\rc\r", id="lone CR"),
        pytest.param(b"", "", "new\n", b"new\n", id="empty file"),
        pytest.param(b"\xef\xbb\xbf", "", "new", b"\xef\xbb\xbfnew", id="a BOM alone"),
        pytest.param(b"x\n", "x", "\u201cx\u201d", b"\xe2\x80\x9cx\xe2\x80\x9d\n", id="new curly quotes"),
        pytest.param(b"x\n", "x", "\\u201c", b"\\u201c\n", id="an escape is no character"),
    ],
)  # fmt: skip
def test_only_the_span_changes(data: bytes, old: str, new: str, expected: bytes) -> None:
    assert edited(data, old, new) == expected


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_utf16_with_a_mark_is_edited_as_text(codec: str, newline: str) -> None:
    bom = codecs.BOM_UTF16_LE if codec.endswith("le") else codecs.BOM_UTF16_BE
    before = newline.join(["é 1", "中 2", "😀 3"])
    after = newline.join(["é 1", "中 two", "more", "😀 3"])
    assert edited(bom + before.encode(codec), "中 2", "中 two\nmore") == bom + after.encode(codec)


def test_the_new_text_is_literal_on_every_way_of_matching() -> None:
    new = 'log("$& \\1 \\g<0> $$ \\n ok");'
    assert edited(b'log("done");\r\n', 'log("done");', new) == new.encode() + b"\r\n"
    assert edited(b"a b a", "a", new, replace_all=True) == new.encode() + b" b " + new.encode()
    assert edited(b"  log( 1 )\n", "  log(  1  )", new) == new.encode() + b"\n"


def test_a_latin1_file_of_a_thousand_lines_keeps_all_other_lines() -> None:
    lines = [f"// ligne n\xb0 {n} caf\xe9 \x80\xff".encode("latin-1") for n in range(1_000)]
    changed = edited(b"\n".join(lines), "ligne n° 500 ", "ligne n° cinq ").split(b"\n")
    assert [n for n in range(1_000) if changed[n] != lines[n]] == [500]
    assert changed[500] == lines[500].replace(b"500 ", b"cinq ")


def test_a_character_that_the_encoding_lacks_is_refused() -> None:
    assert "'中'" in refusal(b"caf\xe9 1\n", "1", "中")


def test_half_a_character_is_refused() -> None:
    assert "half of a character" in refusal(b"a\n", "a", "\ud83d")


def test_several_matches_are_refused_with_number_lines_and_previews() -> None:
    data = b"".join(b"x = np.int  # %d\n" % n for n in range(20))
    told = refusal(data, "np.int", "np.int_")
    assert "20 times" in told
    assert "1\tx = np.int  # 0\n2\tx = np.int  # 1\n" in told
    assert "and 15 more" in told
    assert "replace_all" in told


def test_replace_all_changes_all_and_counts() -> None:
    result = replace_text(b"np.int\r\n" * 20, "np.int", "np.int_", replace_all=True)
    assert (result.data, result.n_replaced) == (b"np.int_\r\n" * 20, 20)


@pytest.mark.parametrize("old", ["a=1", "a=1\n"])
def test_the_first_match_never_wins(old: str) -> None:
    assert "2 times" in refusal(b"a=1\nb=2\na=1\n", old, old.replace("1", "9"))


def test_matches_that_overlap_are_several() -> None:
    assert "2 times" in refusal(b"aaa", "aa", "b")
    assert edited(b"aaa", "aa", "b", replace_all=True) == b"ba"


def test_an_empty_old_is_refused_on_a_file_with_content() -> None:
    assert "`old` is empty" in refusal(b"1\n" * 300, "", "tail\n")


def test_equal_old_and_new_are_refused() -> None:
    assert "the same" in refusal(b"a", "a", "a")


def test_a_match_but_for_whitespace_changes_only_its_lines() -> None:
    data = b"def foo():\n    x = 1\n    y = 2\n"
    result = replace_text(data, "    x  =  1", "    x = 100")
    assert result.data == b"def foo():\n    x = 100\n    y = 2\n"
    assert "whitespace" in result.note


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        pytest.param(
            b"if a:\n\tb  = 1\n\tc = 2\n\td = 3\n", "if a:\n    b = 1\n    c = 2\n    d = 3",
            "if a:\n    b = 1\n    c = 9\n    d = 3", b"if a:\n\tb  = 1\n    c = 9\n\td = 3\n",
            id="lines that old and new share keep the file's blanks",
        ),
        pytest.param(b"    x = 1\n", "x  = 1", "x = 2", b"    x = 2\n", id="indentation not given stays"),
        pytest.param(b"x = 1  \ny\n", "x  = 1", "x = 2", b"x = 2  \ny\n", id="blanks at the end stay"),
        pytest.param(b"\tx = 1\r\ny\r\n", "    x = 1\n", "    x = 2\n", b"    x = 2\r\ny\r\n", id="CRLF"),
        pytest.param(b"a\n\tx = 1\nb\n", "    x = 1\n", "", b"a\nb\n", id="a line removed"),
        pytest.param("x\xa0= 1\n".encode(), "x = 1", "x = 2", b"x = 2\n", id="no-break space"),
    ],
)  # fmt: skip
def test_near_misses(data: bytes, old: str, new: str, expected: bytes) -> None:
    assert edited(data, old, new) == expected


def test_a_near_miss_in_two_places_is_refused() -> None:
    told = refusal(b"\tx = 1\n  x = 1\n", "    x = 1", "    x = 2")
    assert "whitespace" in told
    assert "2 times" in told
    assert "replace_all" not in told
    refusal(b"\tx = 1\n  x = 1\n", "    x = 1", "    x = 2", replace_all=True)


def test_words_that_run_together_are_no_near_miss() -> None:
    refusal(b"return x\n", "returnx", "y")


def test_curly_quotes_outside_the_change_stay() -> None:
    result = replace_text("She said, “Hello.”\n".encode(), 'She said, "Hello."', 'She said, "Hi."')
    assert result.data == "She said, “Hi.”\n".encode()
    assert "curly" in result.note


def test_the_nearest_text_is_shown_with_its_blanks() -> None:
    data = b"import os\n\n\tdef total(items):\n\t    return sum(items) \n"
    told = refusal(data, "    def totals(items):\n        return sum(item)", "x")
    assert "3\t→def total(items):" in told
    assert "4\t→····return sum(items)·" in told


def test_line_numbers_that_were_copied_along_are_named() -> None:
    assert "line numbers" in refusal(b"a\nb\n", "1\ta\n2\tb", "x")
    assert edited(b"1\ta\n", "1\ta", "x") == b"x\n"


def test_nothing_similar_says_so() -> None:
    assert "nor anything like it" in refusal(b"alpha\nbeta\n", "zzzzzzzzzz qqqqq", "x")


ENCODINGS = st.sampled_from(
    [(b"", "utf-8"), (b"", "latin-1"), (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")]
)
TEXTS = st.text(st.sampled_from("ab é\t\r\n\u00a0'\""), max_size=30)


@given(
    before=TEXTS, after=TEXTS, new=TEXTS, encoding=ENCODINGS, newline=st.sampled_from(["\n", "\r\n", "\r"])
)
def test_all_bytes_outside_the_span_are_kept(
    before: str, after: str, new: str, encoding: tuple[bytes, str], newline: str
) -> None:
    bom, codec = encoding
    head = bom + before.replace("\n", newline).encode(codec)
    tail = after.replace("\n", newline).encode(codec)
    changed = edited(head + "NEEDLE".encode(codec) + tail, "NEEDLE", new)
    assert changed.startswith(head)
    assert changed.endswith(tail)


@given(data=st.binary(max_size=60), new=st.text(st.sampled_from("xyz\n"), max_size=5))
def test_random_bytes_around_an_ascii_span_are_kept(data: bytes, new: str) -> None:
    assume(b"N" not in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)))
    for at in (0, len(data) // 2, len(data)):
        changed = edited(data[:at] + b"NEEDLE" + data[at:], "NEEDLE", new)
        middle = changed[at : len(changed) - (len(data) - at)]
        assert changed == data[:at] + middle + data[at:]
        assert middle.replace(b"\r\n", b"\n") == new.encode()


@given(data=st.binary(max_size=40))
def test_every_reading_of_a_file_gives_its_bytes_back(data: bytes) -> None:
    for prefix in (b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        for decoded in readings(prefix + data):
            assert len(decoded.bom) + decoded.size_of(decoded.text) == len(prefix + data)
