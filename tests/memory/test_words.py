from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tori_tui.memory.words import TERM_LIMIT_CHARS, WANTED_LIMIT, as_ascii, has_all, terms_of, wanted_terms

TEXT = st.text(max_size=40) | st.text("aB_1 字典かな한글", max_size=20)


def test_identifiers_are_found_by_their_parts_and_whole() -> None:
    assert terms_of("getUserName user_id HTTPServer2") == {
        *("getusername", "get", "user", "name", "id", "httpserver2", "http", "server2"),
    }


def test_scripts_without_spaces_are_found_by_pairs() -> None:
    assert terms_of("用户a") == {"用", "户", "用户", "a"}
    assert [each.term for each in wanted_terms("用户名")] == ["用户", "户名"]
    assert [each.term for each in wanted_terms("名")] == ["名"]


def test_a_search_by_a_whole_text_is_cut() -> None:
    assert len(wanted_terms(" ".join(map(str, range(1_000))))) == WANTED_LIMIT


@given(TEXT)
def test_every_text_is_found_by_itself(text: str) -> None:
    assert has_all(terms_of(text), wanted_terms(text))


@given(TEXT, TEXT)
def test_a_word_that_was_found_is_found_in_a_longer_text_too(one: str, other: str) -> None:
    assert has_all(terms_of(f"{one} {other}"), wanted_terms(one))


@given(st.text(min_size=1, max_size=TERM_LIMIT_CHARS), st.text(max_size=5))
def test_in_ascii_a_beginning_stays_a_beginning(term: str, more: str) -> None:
    assert as_ascii(term).isalnum()
    assert as_ascii(term).isascii()
    assert as_ascii(term + more).startswith(as_ascii(term))
