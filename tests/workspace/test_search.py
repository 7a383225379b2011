from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tori_tui.workspace.hits import FoundLine, LineQuery
from tori_tui.workspace.patterns import GlobInvalid, glob_of
from tori_tui.workspace.search import FilesFound, LinesFound, PatternInvalid, Search
from tori_tui.workspace.tree import walk

OWN = Search(None)


def make(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def engines() -> list[Search]:
    rg = shutil.which("rg")
    return [OWN, Search(rg)] if rg else [OWN]


def files(search: Search, root: Path, glob: str = "*") -> FilesFound:
    return asyncio.run(search.files(root, glob_of(glob)))


def lines(search: Search, root: Path, regex: str, glob: str = "", **more: object) -> LinesFound:
    query = LineQuery(regex, bool(more.get("ignore_case")), int(str(more.get("context", 0))))
    return asyncio.run(search.lines(root, query, glob_of(glob) if glob else None))


def found(result: LinesFound) -> list[tuple[str, int, str]]:
    return [(line.path, line.number, line.text) for line in result.lines]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make(
        tmp_path / "tree",
        {
            ".gitignore": "secret/\n*.log\n!keep.log\n/only_here\nbuild/*\n!build/kept.txt\n",
            "secret/k.txt": "NEEDLE\n",
            "a.log": "NEEDLE\n",
            "keep.log": "NEEDLE\n",
            "only_here": "NEEDLE\n",
            "sub/only_here": "NEEDLE\n",
            "build/out.txt": "NEEDLE\n",
            "build/kept.txt": "NEEDLE\n",
            "sub/.gitignore": "*.tmp\n!special.log\n",
            "sub/x.tmp": "NEEDLE\n",
            "x.tmp": "NEEDLE\n",
            "sub/special.log": "NEEDLE\n",
            "sub/secret/k.txt": "NEEDLE\n",
            ".hidden/h.txt": "NEEDLE\n",
            ".git/config": "NEEDLE\n",
            ".trace/t/messages.jsonl": "NEEDLE\n",
            ".ignore": "*.txt\n",
        },
    )


VISIBLE = [".gitignore", ".hidden/h.txt", ".ignore", "build/kept.txt", "keep.log", "sub/.gitignore",
           "sub/only_here", "sub/special.log", "x.tmp"]  # fmt: skip


@pytest.mark.parametrize("search", engines())
@pytest.mark.parametrize("has_repository", [True, False])
def test_ignored_files_are_left_out_of_both_searches(
    tree: Path, search: Search, has_repository: bool
) -> None:
    if not has_repository:
        shutil.rmtree(tree / ".git")
    assert list(files(search, tree).paths) == VISIBLE
    hits = [name for name, *_ in found(lines(search, tree, "NEEDLE"))]
    assert hits == [name for name in VISIBLE if name not in (".gitignore", ".ignore", "sub/.gitignore")]


@pytest.mark.parametrize("search", engines())
def test_a_folder_or_file_that_is_named_is_searched_though_it_is_ignored(tree: Path, search: Search) -> None:
    assert found(lines(search, tree / "secret", "NEEDLE")) == [("k.txt", 1, "NEEDLE")]
    assert found(lines(search, tree / "secret/k.txt", "NEEDLE")) == [("", 1, "NEEDLE")]
    assert found(lines(search, tree / ".trace/t", "NEEDLE")) == [("messages.jsonl", 1, "NEEDLE")]
    assert files(search, tree / "sub").paths == (".gitignore", "only_here", "special.log")


@pytest.mark.parametrize("search", engines())
def test_special_files_and_links_are_left_alone(tree: Path, search: Search) -> None:
    os.mkfifo(tree / "fifo")
    (tree / "link.txt").symlink_to("x.tmp")
    (tree / "loop").symlink_to(".")
    (tree / "out").symlink_to("/etc")
    begun = time.monotonic()
    assert list(files(search, tree).paths) == VISIBLE
    assert len(lines(search, tree, "NEEDLE").lines) == 6
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("search", engines())
@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("./src/*.py", ["src/b.py"]),
        ("src/**", ["src/b.py", "src/d.ts", "src/deep/c.py"]),
        ("src/", ["src/b.py", "src/d.ts", "src/deep/c.py"]),
        ("src/**/c.py", ["src/deep/c.py"]),
        ("**/deep/*", ["src/deep/c.py"]),
        ("*.{ts,tsx}", ["e.tsx", "src/d.ts"]),
        ("{a,src/b}.py", ["a.py", "src/b.py"]),
        ("[!a].py", ["src/b.py", "src/deep/c.py"]),
        ("?.tsx", ["e.tsx"]),
        ("A.py", []),
        ("we?rd*", ["we{rd,[x].txt"]),
        ("*[[]x*", ["we{rd,[x].txt"]),
    ],
)
def test_globs(tmp_path: Path, search: Search, glob: str, expected: list[str]) -> None:
    names = ["a.py", "src/b.py", "src/deep/c.py", "src/d.ts", "e.tsx", "we{rd,[x].txt"]
    make(tmp_path, dict.fromkeys(names, "x\n"))
    assert list(files(search, tmp_path, glob).paths) == expected
    assert [name for name, *_ in found(lines(search, tmp_path, "x", glob))] == expected


@pytest.mark.parametrize("glob", ["", " ", "../*.py", "src/../../x", "[", "a\\", "{a,b}" * 10])
def test_a_glob_that_means_nothing_is_refused(glob: str) -> None:
    with pytest.raises(GlobInvalid):
        glob_of(glob)


@pytest.mark.parametrize("search", engines())
def test_a_long_line_gives_a_preview_around_the_match(tmp_path: Path, search: Search) -> None:
    make(tmp_path, {"m.min.js": "x" * 2_500 + "needle" + "y" * 2_494})
    text = lines(search, tmp_path, "needle").lines[0].text
    assert "xneedley" in text
    assert text.startswith("[2,253 more]…")
    assert text.endswith("…[2,247 more]")
    assert len(text) < 550


@pytest.mark.parametrize("search", engines())
def test_a_line_of_ten_megabytes_floods_nothing(tmp_path: Path, search: Search) -> None:
    make(tmp_path, {"m.min.js": "first\n" + "x" * 6_000_000 + "needle" + "y" * 6_000_000 + "\nlast needle\n"})
    result = lines(search, tmp_path, "needle")
    assert [(line.number, "xneedley" in line.text) for line in result.lines] == [(2, True), (3, False)]
    assert all(len(line.text) < 600 for line in result.lines)


@pytest.mark.parametrize("search", engines())
def test_encodings_line_ends_and_binary_files(tmp_path: Path, search: Search) -> None:
    make(
        tmp_path,
        {
            "bom.txt": b"\xef\xbb\xbfneedle\n",
            "crlf.txt": b"a needle\r\nb\r\n",
            "early.bin": b"\0needle\n",
            "late.bin": b"needle\n" + b"x\n" * 100_000 + b"\0",
            "latin.txt": b"caf\xe9 needle\n",
            "no_end.txt": b"needle",
            "utf16.txt": "\ufeffé needle\r\n".encode("utf-16-le"),
            "utf8.txt": "é中 needle\n".encode(),
        },
    )
    assert found(lines(search, tmp_path, "needle$")) == [
        ("bom.txt", 1, "needle"),
        ("crlf.txt", 1, "a needle"),
        ("latin.txt", 1, "caf� needle"),
        ("no_end.txt", 1, "needle"),
        ("utf16.txt", 1, "é needle"),
        ("utf8.txt", 1, "é中 needle"),
    ]
    assert [name for name, *_ in found(lines(search, tmp_path, "^needle"))] == ["bom.txt", "no_end.txt"]


@pytest.mark.parametrize("search", engines())
def test_lines_around_a_match_are_marked_as_such(tmp_path: Path, search: Search) -> None:
    make(tmp_path, {"f": "\n".join("abXdXfghijXl")})
    result = lines(search, tmp_path, "X", context=1)
    shown = "".join(f"{line.number}{':' if line.is_match else '-'} " for line in result.lines)
    assert shown == "2- 3: 4- 5: 6- 10- 11: 12- "


@pytest.mark.parametrize("search", engines())
def test_a_hundred_matches_are_the_most_and_in_order(tmp_path: Path, search: Search) -> None:
    make(tmp_path, {f"{n % 7}/{n}.txt": "hit\nhit\n" for n in range(100)})
    result = lines(search, tmp_path, "hit")
    assert result.has_more
    assert len(result.lines) == 100
    order = [(line.path.split("/"), line.number) for line in result.lines]
    assert order == sorted(order)


@pytest.mark.parametrize("search", engines())
@pytest.mark.parametrize("regex", ["-e", "--files", "-e x", "--"])
def test_a_pattern_is_never_an_option(tmp_path: Path, search: Search, regex: str) -> None:
    make(tmp_path, {"f": f"other\n{regex}\n"})
    assert found(lines(search, tmp_path, regex)) == [("f", 2, regex)]


@pytest.mark.parametrize("search", engines())
@pytest.mark.parametrize("regex", ["(", "", "[", "a{2,1}", "a\nb", "(?P<x"])
def test_a_broken_or_empty_pattern_is_an_error(tmp_path: Path, search: Search, regex: str) -> None:
    make(tmp_path, {"f": "x\n"})
    with pytest.raises(PatternInvalid):
        lines(search, tmp_path, regex)


@pytest.mark.parametrize("search", engines())
@pytest.mark.parametrize("regex", ["(?=n)needle", r"(e)\1", "needle(?!x)", r"n\w+", r"\bneedle\b"])
def test_what_ripgrep_cannot_tori_can(tmp_path: Path, search: Search, regex: str) -> None:
    make(tmp_path, {"f": "needle\n"})
    assert found(lines(search, tmp_path, regex)) == [("f", 1, "needle")]


@pytest.mark.parametrize("search", engines())
def test_case_counts_unless_it_is_ignored(tmp_path: Path, search: Search) -> None:
    make(tmp_path, {"f": "Needle ÉTÉ\n"})
    assert found(lines(search, tmp_path, "needle été")) == []
    assert len(found(lines(search, tmp_path, "needle été", ignore_case=True))) == 1


@pytest.mark.parametrize("rg", ["/does/not/exist", "/bin/ls"])
def test_a_ripgrep_that_does_not_work_is_replaced(tree: Path, rg: str) -> None:
    assert files(Search(rg), tree) == files(OWN, tree)
    assert lines(Search(rg), tree, "NEEDLE") == lines(OWN, tree, "NEEDLE")


def children() -> list[str]:
    command = ["ps", "--ppid", str(os.getpid()), "-o", "args="]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [row for row in listing.splitlines() if "search_worker" in row]


def test_a_regex_that_hangs_ends_by_the_limit_and_leaves_no_process(tmp_path: Path) -> None:
    make(tmp_path, {"a.txt": "aab\n", "t.txt": "a" * 40 + "!\n"})
    begun = time.monotonic()
    result = lines(Search(None, limit_s=1.0), tmp_path, "(a+)+[$b]")
    assert time.monotonic() - begun < 4
    assert not result.is_complete
    assert found(result) == [("a.txt", 1, "aab")]
    assert children() == []


async def test_a_cancelled_search_leaves_no_process(tmp_path: Path) -> None:
    make(tmp_path, {"t.txt": "a" * 40 + "!\n"})
    task = asyncio.create_task(OWN.lines(tmp_path, LineQuery("(a+)+$")))
    await asyncio.sleep(0.3)
    begun = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begun < 1
    assert children() == []


def test_modules_in_the_searched_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"json.py": "raise SystemExit(3)\n", "re.py": "raise SystemExit(3)\n", "f": "needle\n"})
    monkeypatch.chdir(tmp_path)
    assert found(lines(OWN, tmp_path, "^needle")) == [("f", 1, "needle")]


def test_a_deep_tree_is_walked(tmp_path: Path) -> None:
    make(tmp_path, {"/".join("d" * 500) + "/f": "x"})
    assert [path.count("/") for path in walk(tmp_path)] == [500]


def test_a_walk_can_be_stopped(tmp_path: Path) -> None:
    make(tmp_path, {str(n): "" for n in range(10)})
    seen: list[str] = []
    for path in walk(tmp_path, lambda: len(seen) >= 3):
        seen.append(path)
    assert len(seen) == 3


IGNORE_LINES = ["*.a", "!*.a", "/x", "x/", "y", "!y", "x/y", "**/z", "x/**", "!x/y/", "*/y", "a?", "[xy]",
                "#c", "z/ ", "!/z", "y/**/x", "**", "!**/*.b", "x*", "\\!x", "/*", "!/x", "*.b "]  # fmt: skip


def random_tree(root: Path, randomness: random.Random) -> None:
    folders = [root]
    for _ in range(randomness.randrange(1, 8)):
        folder = randomness.choice(folders) / randomness.choice(["x", "y", "z", ".h", "d.a"])
        if not folder.exists():
            folder.mkdir()
            folders.append(folder)
    for folder in folders:
        for name in randomness.sample(["x", "y", "z", "f.a", "f.b", "ab", "!x", ".k", "u v", "é"], 4):
            path = folder / name
            if not path.exists():
                content = [
                    randomness.choice(["hit", "Hit\r", "no", "", "hit hit", "x" * 600 + "hit"])
                    for _ in range(5)
                ]
                path.write_text("\n".join(content) + randomness.choice(["", "\n"]), newline="")
        if randomness.random() < 0.5:
            rules = randomness.sample(IGNORE_LINES, randomness.randrange(1, 4))
            (folder / ".gitignore").write_text("\n".join(rules))
        if randomness.random() < 0.15:
            (folder / ".git").mkdir(exist_ok=True)


@pytest.mark.needs("rg")
@pytest.mark.parametrize("seed", range(24))
def test_both_engines_find_the_same_in_random_trees(tmp_path: Path, seed: int) -> None:
    randomness = random.Random(seed)
    random_tree(tmp_path, randomness)
    rg = Search(shutil.which("rg"))
    starts = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir() and ".git" not in path.parts)]
    start = randomness.choice(starts)
    glob = randomness.choice(["*", "*.a", "x/**", "**/*.b", "{x,y}*"])
    assert files(rg, start, glob) == files(OWN, start, glob)
    regex = randomness.choice(["hit", "^hit$", "h.t", "x*", r"\bhit\b.*h"])
    context = randomness.randrange(3)
    assert lines(rg, start, regex, glob, context=context) == lines(OWN, start, regex, glob, context=context)


def test_found_lines_compare_by_value() -> None:
    assert FoundLine("a", 1, "x") == FoundLine("a", 1, "x")
