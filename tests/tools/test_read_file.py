from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.tools.file_bench import FileBench
from tori_tui.tools.base import ArgumentsInvalid
from tori_tui.workspace.files import digest


@pytest.fixture
def bench(tmp_path: Path) -> FileBench:
    root = tmp_path / "tree"
    root.mkdir()
    return FileBench(root)


def put(bench: FileBench, data: bytes, name: str = "f.txt") -> str:
    (bench.root / name).write_bytes(data)
    return name


def test_lines_are_numbered_and_counted(bench: FileBench) -> None:
    output = bench.read(put(bench, b"a\n\tb\n\nc"))
    assert output.text == "1\ta\n2\t\tb\n3\t\n4\tc"
    assert output.details == {
        "path": "f.txt",
        "sha256": digest(b"a\n\tb\n\nc"),
        "first_line": 1,
        "last_line": 4,
        "total_lines": 4,
    }


def test_a_part_says_what_is_left_out_and_how_to_get_it(bench: FileBench) -> None:
    name = put(bench, b"".join(b"line %d\n" % n for n in range(1, 101)))
    output = bench.read(name, offset=11, limit=2)
    assert output.text == "11\tline 11\n12\tline 12\n[lines to 100 left out; next: offset=13]"
    assert bench.read(name, offset=99).text == "99\tline 99\n100\tline 100"
    assert output.details["sha256"] == bench.read(name).details["sha256"]


@pytest.mark.parametrize("offset", [1, 2, 2_001, 70_000, 299_999])
def test_a_large_file_is_read_where_it_is_wanted(bench: FileBench, offset: int) -> None:
    name = put(bench, b"".join(b"%d\n" % n for n in range(1, 300_001)))
    output = bench.read(name, offset=offset, limit=2)
    assert output.text.startswith(f"{offset}\t{offset}\n{offset + 1}\t{offset + 1}")
    assert output.details["total_lines"] == 300_000


def test_2000_lines_are_the_default(bench: FileBench) -> None:
    output = bench.read(put(bench, b"x\n" * 5_000))
    assert output.details["last_line"] == 2_000
    assert "offset=2001" in output.text


def test_50_kb_are_the_most(bench: FileBench) -> None:
    output = bench.read(put(bench, (b"y" * 99 + b"\n") * 1_000))
    assert output.details["last_line"] == 500
    assert len(output.text) < 55_000


def test_a_long_line_is_cut_and_says_by_how_much(bench: FileBench) -> None:
    output = bench.read(put(bench, b"a\n" + "é".encode() * 1_000_000 + b"\nb\n"))
    assert len(output.text) < 2_100
    assert "é… [" in output.text
    assert "�" not in output.text
    assert output.text.endswith("3\tb")
    assert "[3,000 more characters]" in bench.read(put(bench, b"z" * 5_000)).text


def test_an_offset_behind_the_end_tells_the_number_of_lines(bench: FileBench) -> None:
    output = bench.read(put(bench, b"a\nb\n"), offset=9)
    assert output.is_error
    assert "has 2 lines" in output.text


@pytest.mark.parametrize("offset", [0, -1, "x"])
def test_a_wrong_offset_is_told(bench: FileBench, offset: object) -> None:
    with pytest.raises(ArgumentsInvalid, match="`offset`"):
        bench.read(put(bench, b"a"), offset=offset)


def test_an_empty_file_is_empty(bench: FileBench) -> None:
    output = bench.read(put(bench, b""))
    assert (output.text, output.is_error) == ("f.txt is empty.", False)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"a\r\nb\r\n", "1\ta\n2\tb", id="CRLF"),
        pytest.param(b"\xef\xbb\xbfa\n", "1\ta", id="BOM"),
        pytest.param(b"caf\xe9\n", "1\tcafé", id="Latin-1"),
        pytest.param("é中😀\n".encode(), "1\té中😀", id="UTF-8"),
        pytest.param("é\xe0\n".encode() + b"\xff\n", "1\téà\n2\t�", id="UTF-8 with a broken byte"),
        pytest.param("\ufeffa\r\né\n".encode("utf-16-le"), "1\ta\n2\té", id="UTF-16 LE"),
        pytest.param("\ufeffa\né\n".encode("utf-16-be"), "1\ta\n2\té", id="UTF-16 BE"),
        pytest.param(b"\xff\xfea", "1\tÿþa", id="half a UTF-16"),
    ],
)
def test_text_is_shown_whatever_its_encoding(bench: FileBench, data: bytes, expected: str) -> None:
    assert bench.read(put(bench, data)).text == expected


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x7fELF\x00\x01" + bytes(range(256)), "binary file, 262 bytes"),
        (b"a" * 9_000 + b"\0" + b"b" * 10, "binary file, 9,011 bytes"),
        (b"%PDF-1.7\nxyz\n", "PDF, 13 bytes"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 10, "PNG image, 18 bytes"),
        (b"\xff\xd8\xff\xe0abc", "JPEG image"),
    ],
)
def test_what_is_no_text_is_named_and_not_shown(bench: FileBench, data: bytes, words: str) -> None:
    output = bench.read(put(bench, data))
    assert output.is_error
    assert words in output.text
    assert len(output.text) < 120
    assert output.details["sha256"] == digest(data)


def test_the_content_decides_and_not_the_name(bench: FileBench) -> None:
    assert bench.read(put(bench, b"<html>\n", "f.jpg")).text == "1\t<html>"
    assert bench.read(put(bench, b"", "g.png")).text == "g.png is empty."


def test_a_folder_is_listed(bench: FileBench) -> None:
    (bench.root / "sub").mkdir()
    put(bench, b"a", "b.py")
    assert bench.read(".").text == ". is a folder:\nb.py\nsub/"
    assert bench.read("sub").text == "sub is a folder, empty."


def test_a_missing_file_gets_suggestions(bench: FileBench) -> None:
    (bench.root / "src" / "deep").mkdir(parents=True)
    put(bench, b"", "src/deep/models.py")
    put(bench, b"", "README.md")
    assert "Did you mean: src/deep/models.py" in bench.read("models.py").text
    assert "Did you mean: README.md" in bench.read("readme").text
    assert bench.read("nothing/like/it.xyz").is_error
    assert bench.read("README.md/below").is_error


def test_special_files_are_never_opened(bench: FileBench) -> None:
    os.mkfifo(bench.root / "fifo")
    begun = time.monotonic()
    output = bench.read("fifo")
    assert output.is_error
    assert "a pipe" in output.text
    assert time.monotonic() - begun < 2
    for path in ("/dev/zero", "/dev/stdin", "/proc/self/environ"):
        assert bench.read(path).is_error


def test_a_notebook_is_shown_without_its_large_outputs(bench: FileBench) -> None:
    outputs = [{"output_type": "display_data", "data": {"image/png": "A" * 300_000}}]
    cell = {"cell_type": "code", "source": ["print(1)\n", "x"], "outputs": outputs}
    data = json.dumps({"cells": [cell]}).encode()
    output = bench.read(put(bench, data, "n.ipynb"))
    assert len(output.text) < 200
    assert "2\tprint(1)\n3\tx" in output.text
    assert output.details["sha256"] == digest(data)


def test_a_broken_notebook_is_shown_as_text(bench: FileBench) -> None:
    assert bench.read(put(bench, b'{"cells": [', "n.ipynb")).text == '1\t{"cells": ['


def test_a_file_that_changes_while_it_is_read_does_no_harm(bench: FileBench) -> None:
    name = put(bench, b"x\n" * 1_000_000)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for size in (0, 10, 2_000_000):
                os.truncate(bench.root / name, size)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        for _ in range(20):
            assert bench.read(name).text
    finally:
        stop.set()
        writer.join()


def test_a_file_in_the_trace_may_be_read(bench: FileBench) -> None:
    kept = bench.outputs.keep_text("full output")
    assert bench.read(f".trace/t/outputs/{kept}").text == "1\tfull output"


def test_a_relative_path_begins_at_the_cwd(bench: FileBench) -> None:
    (bench.root / "sub").mkdir()
    put(bench, b"x", "sub/a.py")
    inner = FileBench(bench.root, bench.root / "sub")
    assert inner.read("a.py").text == "1\tx"
    assert inner.read("a.py").details["path"] == "sub/a.py"
    assert "a.py" in inner.read("b.py").text


def test_the_preview_names_the_lines(bench: FileBench) -> None:
    preview = asyncio.run(bench.read_tool.preview({"path": "a.py", "offset": 5, "limit": 10}))
    assert (preview.title, preview.paths) == ("read_file a.py:5-14", ("a.py",))


CODE = "".join(f"class C{n}:\n    def method(self) -> int:\n        return {n}\n\n\n" for n in range(30))


def test_a_part_of_code_says_what_else_the_file_defines_but_once(bench: FileBench) -> None:
    name = put(bench, CODE.encode(), "code.py")
    rows = bench.read(name, offset=11, limit=5).text.splitlines()
    at = rows.index("[not shown here:]")
    assert rows[at - 1] == "[lines to 150 left out; next: offset=16]"
    assert rows[at + 1 :][:3] == ["1-3 class C0:", "6-8 class C1:", "16-18 class C3:"]
    assert len(rows) - at == 30
    assert "[not shown here:]" not in bench.read(name, offset=21, limit=5).text
    put(bench, (CODE + "x = 1\n").encode(), "code.py")
    assert "[not shown here:]" in bench.read(name, offset=21, limit=5).text


def test_methods_are_named_where_there_is_room(bench: FileBench) -> None:
    name = put(bench, ("x = 1\n" * 70 + CODE[: len(CODE) // 10]).encode(), "code.py")
    assert "\n  72-73 def method(self) -> int:" in bench.read(name, limit=5).text


@pytest.mark.parametrize("whole", [CODE[:200], "word\n" * 200])
def test_a_short_rest_or_plain_text_has_no_outline(bench: FileBench, whole: str) -> None:
    name = put(bench, whole.encode(), "code.py" if "class" in whole else "text.txt")
    assert "[not shown here:]" not in bench.read(name, limit=2).text


def test_the_grammars_are_loaded_only_for_an_outline(bench: FileBench) -> None:
    script = "import sys, tori_tui.tools.read_file; print([n for n in sys.modules if 'tree_sitter' in n])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
