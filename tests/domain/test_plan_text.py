from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.trees import worked_example
from tori_tui.domain.plan_text import goal_heading, goal_title, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\tb  c", "a b c"),
        ("\x1b[2Ja\x00b\x9bc", "[2Jabc"),
        ("left\u202eright", "leftright"),
        ("👩‍👩‍👧 family", "👩‍👩‍👧 family"),
        ("中　文\u2028字", "中 文 字"),
    ],
)
def test_text_becomes_one_harmless_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_cut_line_never_exceeds_the_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


def test_root_goals_have_a_dot_after_their_id() -> None:
    tree = worked_example()
    headings = [goal_heading(goal) for goal in tree.walk()]
    assert headings[:4] == [
        "[✓] 1. Analyse the code",
        "[✗] 2. Plan A",
        "[→] 2'. Plan B",
        "[✓] 2'.1 Design the interface",
    ]


def test_title_is_cut_behind_the_id() -> None:
    assert [goal_title(goal, 5) for goal in worked_example().goals][:2] == ["1 Anal…", "2 Plan…"]
