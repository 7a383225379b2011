from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.domain.goal_list import GoalText, read_goals, split_at_commas


@pytest.mark.parametrize(
    ("wanted", "descriptions"),
    [
        ("Analyse, Fix, Test", ["Analyse", "Fix", "Test"]),
        ("分析代码，修复（甲，乙），测试", ["分析代码", "修复（甲，乙）", "测试"]),
        ("Fix (a, b), list [x, y], map {k, v}", ["Fix (a, b)", "list [x, y]", "map {k, v}"]),
        ('say "a, b", say `c, d`', ['say "a, b"', "say `c, d`"]),
        ("don't stop, won't break", ["don't stop", "won't break"]),
        ("open (a, b", ["open (a", "b"]),
        ('quote "a, b', ['quote "a', "b"]),
        ("wrong ) close, then ( a, b )", ["wrong ) close", "then ( a, b )"]),
        (r"one\, two, three", ["one, two", "three"]),
        (r"一\，二，三", ["一，二", "三"]),
        ("first, with comma\nsecond", ["first, with comma", "second"]),
        ("- a\n* b\n2. c\n3) d\n\n", ["a", "b", "c", "d"]),
        ("a\r\nb", ["a", "b"]),
        (["a, b", "  ", "c\nd"], ["a, b", "c d"]),
        ('["a, b", "c"]', ["a, b", "c"]),
        ("[not json, at all], x", ["[not json, at all]", "x"]),
        (",, ,，", []),
        ("bell\x07 and \x1b[31mred", ["bell and [31mred"]),
    ],
)
def test_goals_are_split_as_a_reader_would(wanted: str | list[str], descriptions: list[str]) -> None:
    assert [goal.description for goal in read_goals(wanted)] == descriptions


@pytest.mark.parametrize(
    ("entry", "goal"),
    [
        ("Fix it [check: pytest -q]", GoalText("Fix it", "pytest -q")),
        ('Fix it [check: test -n "${a[1]}" ]', GoalText("Fix it", 'test -n "${a[1]}"')),
        ("Fix it [check: pytest -k 'a, b' x[1]]", GoalText("Fix it", "pytest -k 'a, b' x[1]")),
        ("Fix it [Check: make]. ", GoalText("Fix it", "make")),
        ("Fix it [check: ]", GoalText("Fix it", None)),
        ("Explain [check: x] to all", GoalText("Explain [check: x] to all", None)),
        ("Fix it\n   [check: make test]", GoalText("Fix it", "make test")),
    ],
)
def test_check_reaches_to_the_last_bracket(entry: str, goal: GoalText) -> None:
    assert read_goals(entry) == (goal,)


def test_backslash_in_a_check_stays() -> None:
    assert read_goals(r"A [check: grep 'a\,b' f], B")[0].check == r"grep 'a\,b' f"


def test_check_without_a_goal_is_left_out() -> None:
    assert read_goals("[check: make]") == ()


@given(st.text())
def test_splitting_loses_nothing_but_the_separators(text: str) -> None:
    parts = split_at_commas(text)
    assert "".join(parts) == "".join(text[i] for i in _kept(text, parts))


def _kept(text: str, parts: list[str]) -> list[int]:
    kept: list[int] = []
    at = 0
    for part in parts:
        kept.extend(range(at, at + len(part)))
        at += len(part)
        assert at == len(text) or text[at] in ",，"
        at += 1
    return kept


@given(st.text(alphabet="a,，()[]\"'`\\\n 「」", max_size=200))
def test_any_text_reads_as_goals_on_one_line(text: str) -> None:
    for goal in read_goals(text):
        assert goal.description
        assert "\n" not in goal.description
