from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.render.diff_parts import DiffLine, Pair, changed_parts, pairs_of, parsed_diff

TWO_FILES = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3,3 +3,3 @@ def f():
 same
-old
+new
 same
diff --git a/pic.png b/pic.png
Binary files a/pic.png and b/pic.png differ
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
\\ No newline at end of file
"""


def test_files_places_and_numbers_are_read() -> None:
    first, picture, gone = parsed_diff(TWO_FILES)
    assert (first.name, first.hunks[0].heading, first.last_number) == ("a.py", "def f():", 5)
    assert first.hunks[0].lines[1:3] == [DiffLine("removed", "old", 4, 0), DiffLine("added", "new", 0, 4)]
    assert picture.notes == ["Binary files a/pic.png and b/pic.png differ"]
    assert gone.name == "gone.txt (gone)"
    assert [line.kind for line in gone.hunks[0].lines] == ["removed", "note"]


def test_a_removed_line_of_dashes_is_no_files_name() -> None:
    (file,) = parsed_diff("--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n x\n")
    assert [(line.kind, line.text) for line in file.hunks[0].lines] == [
        *(("removed", "-- old"), ("added", "++ new"), ("same", "x"))
    ]


lines = st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "", "中文", "\\ e"]), max_size=12)


@given(lines, lines)
def test_a_diff_holds_both_files_on_its_sides(old: list[str], new: list[str]) -> None:
    diff = "\n".join(difflib.unified_diff(old, new, "a/x", "b/x", n=20, lineterm=""))
    files = parsed_diff(diff)
    if old == new:
        assert files == []
        return
    pairs = [pair for hunk in files[0].hunks for pair in pairs_of(hunk.lines)]
    assert [pair.left.text for pair in pairs if pair.left is not None] == old
    assert [pair.right.text for pair in pairs if pair.right is not None] == new
    numbers = [pair.right.new for pair in pairs if pair.right is not None]
    assert numbers == list(range(1, len(new) + 1))


@given(st.text(alphabet="@-+ \n1,abc\\", max_size=80))
def test_what_is_no_diff_does_no_harm(text: str) -> None:
    for file in parsed_diff(text):
        for hunk in file.hunks:
            assert len(list(pairs_of(hunk.lines))) <= len(hunk.lines)


def test_removed_lines_stand_beside_the_added_ones_that_follow() -> None:
    one, two, three = DiffLine("removed", "1", 1), DiffLine("removed", "2", 2), DiffLine("added", "3", 0, 1)
    assert list(pairs_of([one, two, three])) == [Pair(one, three), Pair(two, None)]


@pytest.mark.parametrize(
    ("old", "new", "olds", "news"),
    [
        ("a = old + 1", "a = new + 1", "old", "new"),
        ("return x", "return x, y", "", ", y"),
        ("  name = 1", "    name = 1", "  ", "    "),
        ("检查密码", "检查新密码", "", "新"),
        ("same", "same", "", ""),
    ],
)
def test_changed_words_of_lines_that_are_alike(old: str, new: str, olds: str, news: str) -> None:
    parts = changed_parts(old, new)
    assert parts is not None
    assert (old[slice(*parts[0])], new[slice(*parts[1])]) == (olds, news)


@pytest.mark.parametrize(("old", "new"), [("abc", "xyz"), ("", "x"), ("", ""), ("a" * 600, "a" * 601)])
def test_lines_that_have_little_in_common_are_changed_as_a_whole(old: str, new: str) -> None:
    assert changed_parts(old, new) is None


@given(st.text(alphabet="ab 中.", max_size=12), st.text(alphabet="ab 中.", max_size=12))
def test_what_is_not_marked_is_the_same_in_both(old: str, new: str) -> None:
    if parts := changed_parts(old, new):
        left, right = parts
        assert old[: left.start] == new[: right.start]
        assert old[left.end :] == new[right.end :]
