from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tori_tui.context.words import MIN_LINE_CHARS, long_lines, names, paths

LETTERS = st.text("ab_A1 \t\n./\\-+@~()[]:|→é中，\r", max_size=60)


def test_names_are_paths_by_their_last_parts_files_and_compound_words() -> None:
    text = (
        "See src/context/words.py, .\\Docs\\A.md or setup.cfg: readAll(max_size) is not READ nor plain words."
    )
    assert names(text) == {"context/words.py", "docs/a.md", "setup.cfg", "readAll", "max_size"}
    assert paths(text) == {"context/words.py", "docs/a.md", "setup.cfg"}


@given(LETTERS, LETTERS, st.sampled_from([" ", "\n", ", ", "，", "→"]))
def test_no_name_reaches_over_what_stands_between_words(before: str, after: str, between: str) -> None:
    assert names(before + between + after) == names(before) | names(after)


@given(st.text(max_size=200))
def test_any_text_has_names(text: str) -> None:
    assert all(names(text))


def test_a_line_is_the_same_with_its_number_a_mark_and_other_blanks() -> None:
    text = "    12\treturn the answer\n+   return the answer  \n 7:  return the answer\n\treturn the answer"
    lines = long_lines(text)
    assert list(lines.rows) == [0, 1, 2, 3]
    assert len(set(lines.keys)) == 1


def test_two_lines_are_a_pair_only_with_what_stands_between() -> None:
    apart = long_lines("the first of two\nx\nthe second of two")
    joined = long_lines("the first of two\n\n\nthe second of two")
    assert apart.keys == joined.keys
    assert apart.pairs[1] != joined.pairs[1] == long_lines("the first of two\nthe second of two").pairs[1]


@given(LETTERS, st.integers(0, 12), st.integers(0, 12))
def test_a_part_of_the_lines_is_what_stands_in_those_rows(text: str, first: int, size: int) -> None:
    lines = long_lines(text)
    part = lines.within(first, first + size)
    rows = [(row, key) for row, key in zip(lines.rows, lines.keys, strict=True) if 0 <= row - first < size]
    assert list(zip(part.rows, part.keys, strict=True)) == rows
    assert list(lines.keys_in(first, first + size)) == [key for _, key in rows]
    assert len(lines.ends) == text.count("\n") + 2
    assert all(len(text.split("\n")[row].strip()) >= MIN_LINE_CHARS for row in lines.rows)
