from __future__ import annotations

import doctest
import unicodedata
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.render import amounts, diff, safe_text

UNSAFE = "\x1b\x9b\x00\x07\x08\x0b\x0c\x0d\x7f\x85\u202e\u2066\u200f\u2028\ufeff\ud800\udfff"


@pytest.mark.parametrize("module", [safe_text, amounts, diff])
def test_the_examples_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@given(st.text(st.characters() | st.sampled_from(UNSAFE)))
def test_no_control_character_survives(text: str) -> None:
    shown = safe_text.safe_text(text)
    shown.encode()
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)
    assert not set(shown) & set(UNSAFE)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert safe_text.safe_text(text) == text


def test_line_ends_become_line_feeds() -> None:
    assert safe_text.safe_text("a\r\nb\rc\n") == "a\nb␍c\n"


@given(st.text(st.characters() | st.sampled_from(UNSAFE + "\n\t ")), st.integers(1, 20))
def test_one_line_is_one_line_within_its_limit(text: str, limit_chars: int) -> None:
    line = safe_text.one_line(text, limit_chars)
    assert len(line.splitlines()) <= 1
    assert len(line) <= limit_chars
