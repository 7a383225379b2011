from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import EDIT, Project, says
from tests.faults.tools_kit import bench_in, names_in, with_room_for
from tori_tui.providers.fold import read_arguments

LATIN_1 = b"const x = 1;\n// caf\xe9 note\n"

PNG_TEXT = "iVBORw0KGgo" * 27_000
"""About 300 kB."""


def test_an_ambiguous_edit_names_number_and_lines_and_replace_all_does_them_in_one_call(
    tmp_path: Path,
) -> None:
    bench = bench_in(tmp_path, n_py=b"".join(b"x%d = np.int\n" % n for n in range(20)))
    refused = bench.edit("n.py", "np.int", "np.int_")
    assert refused.is_error
    assert "20 times" in refused.text
    assert "1\tx0 = np.int" in refused.text
    assert "2\tx1 = np.int" in refused.text
    assert "replace_all" in refused.text
    done = bench.edit("n.py", "np.int", "np.int_", replace_all=True)
    assert not done.is_error
    assert "20 in all" in done.text
    assert (bench.root / "n.py").read_bytes().count(b"np.int_\n") == 20


def test_the_first_of_several_matches_never_wins_at_any_try(tmp_path: Path) -> None:
    data = b"a=1\nb=2\na=1\n"
    bench = bench_in(tmp_path, f=data)
    for old, new in (("a=1", "a=9"), ("a=1\n", "a=9\n"), ("a=1", "a=9")):
        assert bench.edit("f", old, new).is_error
        assert (bench.root / "f").read_bytes() == data


def test_crlf_line_ends_of_untouched_lines_survive_edit_and_write(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, w_txt=b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n")
    path = bench.root / "w.txt"

    def git(*arguments: str) -> str:
        command = ("git", "-c", "core.autocrlf=false", *arguments)
        return subprocess.run(command, cwd=bench.root, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    git("add", "w.txt")
    git("commit", "-qm", "x")
    assert not bench.edit("w.txt", "three", "THREE").is_error
    assert path.read_bytes() == b"one\r\ntwo\r\nTHREE\r\nfour\r\nfive\r\n"
    assert "1 insertion(+), 1 deletion(-)" in git("diff", "--stat")
    assert not bench.edit("w.txt", "THREE", "THREE\nand a half").is_error
    assert path.read_bytes() == b"one\r\ntwo\r\nTHREE\r\nand a half\r\nfour\r\nfive\r\n"
    assert not bench.write("w.txt", "one\ntwo\nthree\nfour\n5\n").is_error
    assert path.read_bytes() == b"one\r\ntwo\r\nthree\r\nfour\r\n5\r\n"
    assert "1 insertion(+), 1 deletion(-)" in git("diff", "--stat")


def test_an_edit_of_ascii_in_a_latin_1_file_keeps_its_high_bytes(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, s_js=LATIN_1)
    assert not bench.edit("s.js", "const x = 1;", "const x = 2;").is_error
    assert (bench.root / "s.js").read_bytes() == LATIN_1.replace(b"1", b"2")
    assert not bench.edit("s.js", "note", "word").is_error
    assert (bench.root / "s.js").read_bytes() == LATIN_1.replace(b"1", b"2").replace(b"note", b"word")


def test_an_edit_in_the_middle_of_a_large_latin_1_file_keeps_all_other_lines(tmp_path: Path) -> None:
    lines = [b"l\xedne %d: \xe9\xe8\xfc \xff\n" % n for n in range(1, 1_001)]
    bench = bench_in(tmp_path, f_txt=b"".join(lines))
    assert not bench.edit("f.txt", "l\xedne 500:", "line 5OO:").is_error
    after = (bench.root / "f.txt").read_bytes().splitlines(keepends=True)
    assert [n for n, (a, b) in enumerate(zip(lines, after, strict=True), 1) if a != b] == [500]
    assert after[499] == b"line 5OO: \xe9\xe8\xfc \xff\n"


def test_a_byte_order_mark_stays_once_and_the_first_line_still_matches(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, t_ps1=b"\xef\xbb\xbfhello\n")
    assert not bench.edit("t.ps1", "hello", "hello2").is_error
    assert (bench.root / "t.ps1").read_bytes() == b"\xef\xbb\xbfhello2\n"
    assert not bench.edit("t.ps1", "\ufeffhello2", "\ufeffhello3").is_error
    assert (bench.root / "t.ps1").read_bytes() == b"\xef\xbb\xbfhello3\n"
    for content in ("whole\n", "\ufeffwhole\n"):
        assert not bench.write("t.ps1", content).is_error
        assert (bench.root / "t.ps1").read_bytes() == b"\xef\xbb\xbfwhole\n"


def test_a_link_stays_a_link_and_its_target_gets_the_text(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, real=b"a\n")
    link = bench.root / "link"
    link.symlink_to("real")
    assert not bench.edit("link", "a", "b").is_error
    assert (link.is_symlink(), (bench.root / "real").read_bytes()) == (True, b"b\n")
    assert not bench.write("link", "c").is_error
    assert (link.is_symlink(), (bench.root / "real").read_bytes()) == (True, b"c")
    (tmp_path / "outside").write_bytes(b"a\n")
    (bench.root / "out").symlink_to(tmp_path / "outside")
    # A target outside of the tree is refused: the sandbox and the checkpoints hold the tree alone.
    assert bench.edit("out", "a", "b").is_error
    assert bench.write("out", "c").is_error
    assert (tmp_path / "outside").read_bytes() == b"a\n"


@pytest.mark.parametrize("way", ["relative", "absolute", "chained"])
def test_an_edit_through_links_lands_in_the_file_that_other_code_reads(tmp_path: Path, way: str) -> None:
    bench = bench_in(tmp_path)
    root = bench.root
    (root / "canonical").mkdir()
    (root / "canonical/settings.py").write_text("debug = 1\n")
    (root / "first.py").symlink_to("canonical/settings.py")
    target = {"relative": "canonical/settings.py", "absolute": str(root / "canonical/settings.py")}
    (root / "settings.py").symlink_to(target.get(way, "first.py"))
    done = bench.edit("settings.py", "1", "0")
    assert not done.is_error
    assert (root / "canonical/settings.py").read_text() == "debug = 0\n"
    assert (root / "settings.py").is_symlink()
    # Taking back goes by this path, so it restores the file and leaves the links alone.
    assert done.details["path"] == "canonical/settings.py"
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    for refused in (bench.edit("a", "1", "2"), bench.write("a", "2")):
        assert refused.is_error
        assert "link" in refused.text


def test_an_empty_old_never_replaces_what_a_file_holds(tmp_path: Path) -> None:
    data = b"".join(b"line %d\n" % n for n in range(300))
    bench = bench_in(tmp_path, f=data)
    for _ in range(3):
        assert bench.edit("f", "", "tail\n").is_error
    assert bench.edit("f", "", "tail\n", replace_all=True).is_error
    assert (bench.root / "f").read_bytes() == data
    assert not bench.edit("new", "", "tail\n").is_error
    assert (bench.root / "new").read_bytes() == b"tail\n"


@pytest.mark.parametrize(
    ("before", "old", "more"),
    [
        (b'log("done");\n', 'log("done");', {}),
        (b'log("done");\nlog("done");\n', 'log("done");', {"replace_all": True}),
        (b'log("done");\r\nx\r\n', 'log("done");\nx', {}),
        (b'if y:\n\tlog("done");\n', '  log("done");', {}),
        ("say(“done”);\n".encode(), 'say("done");', {}),
    ],
)
def test_the_new_text_is_written_as_it_is_and_never_read_as_a_pattern(
    tmp_path: Path, before: bytes, old: str, more: dict[str, object]
) -> None:
    new = r'log("$& \1 \g<0> $$ \n ok");'
    bench = bench_in(tmp_path, f_js=before)
    assert not bench.edit("f.js", old, new, **more).is_error
    after = (bench.root / "f.js").read_bytes()
    assert after.count(rb"$& \1 \g<0> $$ \n ok") == (2 if more else 1)


def test_a_match_but_for_blanks_leaves_every_other_line_as_it_was(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, f_py=b"def foo():\n    x = 1\n    y = 2\n")
    # One place only differs in blanks, so it is taken: a refusal would cost a turn and gain nothing.
    assert not bench.edit("f.py", "    x  =  1", "    x = 100").is_error
    assert (bench.root / "f.py").read_bytes() == b"def foo():\n    x = 100\n    y = 2\n"


def test_curly_quotes_outside_the_change_stay_and_new_ones_are_written_exactly(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, f_txt=b"She said, \xe2\x80\x9cHello.\xe2\x80\x9d\n")
    path = bench.root / "f.txt"
    # The quotes around the word that changes are kept, since the model's keyboard has only straight ones.
    assert not bench.edit("f.txt", 'She said, "Hello."', 'She said, "Hi."').is_error
    assert path.read_text("utf-8") == "She said, “Hi.”\n"
    sent = read_arguments('{"path": "f.txt", "old": "said", "new": "\\u201csaid\\u201d"}')
    assert sent is not None
    assert not bench.call(bench.edit_tool, **sent).is_error
    assert path.read_text("utf-8") == "She “said”, “Hi.”\n"
    assert not bench.edit("f.txt", "She", "\\u0053he").is_error
    assert path.read_text("utf-8") == "\\u0053he “said”, “Hi.”\n"


def test_a_change_from_outside_is_kept_and_costs_at_most_one_more_reading(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, f_py=b"a = 1\nb = 2\n")
    bench.read("f.py")
    (bench.root / "f.py").write_bytes(b"a = 1\nb = 2\n\n")
    # Refused once: what the model saw is gone, and it should know. Then its unique text is proof enough.
    refused = bench.edit("f.py", "a = 1", "a = 9")
    assert refused.is_error
    assert "Read it again" in refused.text
    assert not bench.edit("f.py", "a = 1", "a = 9").is_error
    assert (bench.root / "f.py").read_bytes() == b"a = 9\nb = 2\n\n"


def test_a_partial_reading_another_spelling_and_a_touch_make_no_file_stale(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, a_py=b"".join(b"line %d\n" % n for n in range(1, 51)))
    bench.read("a.py", offset=1, limit=10)
    assert not bench.edit("a.py", "line 40\n", "line forty\n").is_error
    bench.read("./a.py")
    assert not bench.edit("a.py", "line 41\n", "line forty-one\n").is_error
    os.utime(bench.root / "a.py")
    assert not bench.edit("a.py", "line 42\n", "line forty-two\n").is_error


def test_a_large_write_that_finds_no_room_leaves_the_old_content(tmp_path: Path) -> None:
    data = b"old line\n" * 11_000
    bench = bench_in(tmp_path, f_txt=data)
    bench.read("f.txt", limit=1)
    (output,) = with_room_for(1_000_000, bench, [("write", "f.txt", "new line\n" * 222_000)])
    assert output.is_error
    assert "f.txt" in output.text
    assert (bench.root / "f.txt").read_bytes() == data
    assert names_in(bench.root) == {"f.txt"}


def test_a_notebook_is_read_without_its_images_and_stays_valid_after_an_edit(tmp_path: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": PNG_TEXT}, "metadata": {}}
    cells = [
        {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [image], "source": ["print(1)"]},
        {"cell_type": "code", "id": "b", "metadata": {}, "outputs": [], "source": ["print(2)"]},
    ]
    before = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
    bench = bench_in(tmp_path, nb_ipynb=before.encode())
    shown = bench.read("nb.ipynb")
    assert "print(1)" in shown.text
    assert len(shown.text) < 2_000
    assert not bench.edit("nb.ipynb", "print(1)", 'print("a\nb")').is_error
    after = (bench.root / "nb.ipynb").read_text()
    expected = json.loads(before)
    expected["cells"][0]["source"] = ['print("a\n', 'b")']
    assert json.loads(after) == expected
    assert after == json.dumps(expected, indent=1) + "\n"


@pytest.mark.parametrize("way", ["plain", "symlink", "hard link"])
def test_where_nothing_can_be_written_a_file_keeps_its_content_on_every_way(tmp_path: Path, way: str) -> None:
    bench = bench_in(tmp_path, a_txt=b"one\n" * 5)
    if way == "symlink":
        (bench.root / "other").symlink_to("a.txt")
    elif way == "hard link":
        os.link(bench.root / "a.txt", bench.root / "other")
    name = "a.txt" if way == "plain" else "other"
    before = names_in(bench.root)
    bench.read(name)
    # Where there is no room at all; and where the old bytes can be kept aside, but not the new ones written.
    for room_bytes, new in ((0, "two\n"), (30, "two\n" * 10)):
        calls = [("edit", name, "one\n" * 5, new), ("write", name, new)]
        assert all(output.is_error for output in with_room_for(room_bytes, bench, calls))
        assert (bench.root / "a.txt").read_bytes() == b"one\n" * 5
        assert names_in(bench.root) == before
    # With room, a name of its own gets an inode of its own: whoever else holds the file keeps the old one.
    told = bench.edit(name, "one\n" * 5, "two\n")
    assert ("hard links" in told.text) == (way == "hard link")
    assert (bench.root / name).read_bytes() == b"two\n"


def test_a_run_that_cannot_write_at_all_says_so_and_changes_nothing(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("done"))
    done = project.shell("ulimit -f 0; tori run --mode auto go 2>&1 | cat")
    assert b"Traceback" not in done.stdout
    assert b"No room" in done.stdout
    assert (project.root / "a.txt").read_text() == "one\n"
    assert {path.name for path in project.root.iterdir()} <= {".git", ".trace", "a.txt"}
