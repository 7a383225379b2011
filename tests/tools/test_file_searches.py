from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.tools.file_bench import FileBench
from tori_tui.tools.base import ArgumentsInvalid, Tool

DESCRIPTIONS_LIMIT_CHARS = 5 * 100 * 4
"""About 100 tokens for each of the five."""


@pytest.fixture
def bench(tmp_path: Path) -> FileBench:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src/user.py").write_text("class User:\n    name = 1\n\n\n\ndef user():\n    return User\n")
    (root / "app.py").write_text("import user\n")
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "build/user.py").write_text("User\n")
    return FileBench(root)


def test_matches_are_grouped_by_file(bench: FileBench) -> None:
    output = bench.grep("[Uu]ser")
    assert (
        output.text == "app.py\n1:import user\nsrc/user.py\n1:class User:\n6:def user():\n7:    return User"
    )
    assert output.details == {"n_matches": 4, "n_files": 2, "has_more": False}


def test_lines_around_a_match_are_told_apart_and_gaps_are_shown(bench: FileBench) -> None:
    output = bench.grep("name|return", path="src", context=1)
    assert (
        output.text == "src/user.py\n1-class User:\n2:    name = 1\n3-\n--\n6-def user():\n7:    return User"
    )


def test_files_are_listed_by_path(bench: FileBench) -> None:
    assert bench.glob("*.py").text == "app.py\nsrc/user.py"
    assert bench.glob("*.py", path="src").text == "src/user.py"
    assert bench.glob("src/*.py").text == "src/user.py"
    assert bench.glob(f"{bench.root}/src/*.py").text == "src/user.py"


def test_paths_are_such_as_the_model_may_use_from_its_cwd(bench: FileBench) -> None:
    inner = FileBench(bench.root, bench.root / "src")
    assert inner.glob("*.py").text == "user.py"
    assert inner.glob("*.py", path="..").text == "../app.py\nuser.py"
    assert inner.grep("import", path="..").text == "../app.py\n1:import user"


def test_nothing_found_says_so_and_is_no_error(bench: FileBench) -> None:
    for output in (bench.glob("*.zig"), bench.grep("nowhere")):
        assert not output.is_error
        assert output.text.startswith("No ")


def test_ignored_files_are_found_where_they_are_named(bench: FileBench) -> None:
    assert bench.grep("User", path="build").text == "build/user.py\n1:User"
    assert bench.grep("User", path="build/user.py").text == "build/user.py\n1:User"
    assert bench.glob("*", path="build").text == "build/user.py"


def test_more_than_can_be_shown_is_counted(bench: FileBench) -> None:
    for number in range(250):
        (bench.root / f"n{number:03}.txt").write_text("hit\n")
    assert bench.glob("*.txt").text.endswith("n199.txt\n[50 more files: narrow the pattern]")
    output = bench.grep("hit")
    assert output.text.endswith("[first 100 matches: narrow the pattern, `path` or `glob`]")
    assert output.details["n_matches"] == 100


def test_files_with_secrets_are_shown_only_where_they_are_named(bench: FileBench) -> None:
    (bench.root / ".env").write_text("TOKEN=abc\n")
    (bench.root / "conf.py").write_text("TOKEN = 1\n")
    output = bench.grep("TOKEN")
    assert output.text.startswith("conf.py\n1:TOKEN = 1\n[.env matches but may hold secrets")
    assert "abc" not in output.text
    assert bench.grep("TOKEN", path=".env").text == ".env\n1:TOKEN=abc"


def test_much_context_is_cut(bench: FileBench) -> None:
    (bench.root / "big.txt").write_text((("y" * 450 + "\n") * 20 + "hit\n") * 100)
    output = bench.grep("hit", context=10)
    assert len(output.text) < 61_000
    assert "[cut after 60,000 characters" in output.text


@pytest.mark.parametrize("pattern", ["(", "", "a\nb"])
def test_a_broken_pattern_is_told(bench: FileBench, pattern: str) -> None:
    output = bench.grep(pattern)
    assert output.is_error
    assert "pattern" in output.text or "regex" in output.text


@pytest.mark.parametrize("path", ["..", "/etc", "missing", "fifo"])
def test_a_place_that_cannot_be_searched_is_told(bench: FileBench, path: str) -> None:
    os.mkfifo(bench.root / "fifo")
    assert bench.grep("x", path=path).is_error
    assert bench.glob("*", path=path).is_error


def test_a_file_is_no_folder_to_list(bench: FileBench) -> None:
    assert "no folder" in bench.glob("*", path="app.py").text


def test_a_broken_glob_is_told(bench: FileBench) -> None:
    assert bench.glob("../*").is_error
    assert bench.grep("x", glob="[").is_error


def test_nearly_right_arguments_are_taken(bench: FileBench) -> None:
    assert bench.grep("user", ignoreCase="true", context="0").details["n_matches"] == 4
    with pytest.raises(ArgumentsInvalid, match="context"):
        bench.grep("user", context=-1)


def test_names_that_are_no_text_do_no_harm(bench: FileBench) -> None:
    with open(os.fsencode(bench.root) + b"/caf\xe9.txt", "w") as file:
        file.write("odd\n")
    assert bench.glob("*.txt").text == "caf�.txt"
    assert bench.grep("odd").text == "caf�.txt\n1:odd"


def test_the_previews_name_what_is_looked_for(bench: FileBench) -> None:
    grep = asyncio.run(bench.grep_tool.preview({"pattern": "x", "path": "src", "glob": "*.py"}))
    assert (grep.title, grep.paths) == ("grep_files x in src (*.py)", ("src",))
    glob = asyncio.run(bench.glob_tool.preview({"pattern": "*.py"}))
    assert (glob.title, glob.paths) == ("glob_files *.py", (".",))


def test_what_the_model_is_told_of_the_file_tools_is_short(bench: FileBench) -> None:
    tools: list[Tool] = [bench.read_tool, bench.write_tool, bench.edit_tool, bench.glob_tool, bench.grep_tool]
    told = [
        json.dumps({"name": t.spec.name, "description": t.spec.description, "parameters": t.spec.parameters})
        for t in tools
    ]
    assert sum(map(len, told)) < DESCRIPTIONS_LIMIT_CHARS, [len(text) // 4 for text in told]
