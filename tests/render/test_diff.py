from __future__ import annotations

from tori_tui.render.diff import count_lines, diff_text, looks_like_diff

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old [/red]\n+new \x1b[31m\n"


def test_lines_are_coloured_by_what_they_do_and_nothing_else() -> None:
    text = diff_text(DIFF)
    assert text.plain.splitlines()[-2:] == ["-old [/red]", "+new ␛[31m"]
    styles = {text.plain[span.start : span.end].strip(): span.style for span in text.spans}
    assert styles["-old [/red]"] == "red"
    assert styles["+new ␛[31m"] == "green"
    assert styles["@@ -1,2 +1,2 @@"] == "cyan"


def test_a_diff_is_told_from_a_command() -> None:
    assert looks_like_diff(DIFF)
    assert not looks_like_diff("echo '@@ nothing @@'")


def test_added_and_removed_lines_are_counted_without_the_head() -> None:
    assert count_lines(DIFF) == (1, 1)
