from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tori_tui.permission.command_class import classify_command
from tori_tui.permission.policy import PermissionQuestion, decide
from tori_tui.tools.reached_paths import TOO_MANY, reached_paths


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def decision(root: Path, command: str) -> str:
    paths = reached_paths(classify_command(command), root)
    question = PermissionQuestion("bash", "execute", str(root), command=command, paths=paths)
    return decide("ask", question).decision


def test_a_recursive_search_is_asked_only_where_it_would_read_secrets(root: Path) -> None:
    assert decision(root, "grep -rn foo src") == "allow"
    assert decision(root, "grep -rn foo .") == "allow"
    (root / "src" / "deep" / ".env").write_text("KEY=x")
    assert decision(root, "grep -rn foo src") == "ask"
    assert decision(root, "grep -rn foo .") == "ask"
    assert decision(root, "cd src && grep -rn foo deep") == "ask"
    assert decision(root, "diff -r src other") == "ask"
    assert decision(root, "grep -n foo src/a.py") == "allow"


def test_links_and_patterns_are_followed(root: Path) -> None:
    (root / "src" / "x.py").symlink_to("/etc/passwd")
    (root / "out").symlink_to("/etc")
    (root / "rel").symlink_to("src/a.py")
    for command in (
        "cat src/x.py",
        "cat src/*.py",
        "head -3 src/?.py",
        "cat out/passwd",
        "cd out && cat passwd",
    ):
        assert decision(root, command) == "ask", command
    assert decision(root, "cat src/a.py rel") == "allow"
    assert decision(root, "for f in src/*.py; do cat $f; done") == "ask"


def test_too_many_files_are_asked(root: Path) -> None:
    for number in range(5):
        (root / "src" / f"{number}.py").touch()
    for command in ("grep -r x src", "cat src/*.py"):
        paths = reached_paths(classify_command(command), root, entries_limit=3)
        assert paths == (TOO_MANY,)
        question = PermissionQuestion("bash", "execute", str(root), command=command, paths=paths)
        assert decide("ask", question).decision == "ask"


def test_a_folder_that_looks_like_a_repository_runs_nothing_unasked(root: Path) -> None:
    fake = root / "sub"
    for name in ("objects", "refs"):
        (fake / name).mkdir(parents=True)
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    program = f"touch {root}/PWN; false"
    (fake / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../src\n"
        f'\tfsmonitor = "{program}"\n'
    )
    subprocess.run(["git", "status"], cwd=fake, capture_output=True, check=False)
    assert (root / "PWN").exists(), "the attack itself does not work with this git any more"
    for command in ("cd sub && git status", "cd sub && git log -1", "bash -c 'cd sub && git diff'"):
        assert decision(root, command) == "ask", command
    assert decision(root, "git status") == "allow"


@pytest.mark.parametrize(
    "path",
    [
        *("sub/.git", ".git/modules/x/config", ".git/commondir", ".git/config.worktree"),
        *(".venv/bin/ls", "venv/bin/python", "node_modules/.bin/eslint"),
    ],
)
def test_files_that_choose_programs_are_asked_in_every_mode(path: str) -> None:
    question = PermissionQuestion("write_file", "write", "/home/me/p", paths=(path,))
    assert decide("auto", question).decision == "ask"


def test_what_a_search_finds_and_a_reader_opens_is_looked_at(root: Path) -> None:
    command = "find . -name '*.py' | xargs cat"
    assert decision(root, command) == "allow"
    (root / "src" / "out.py").symlink_to("/etc/passwd")
    for asked in (command, "find src -name '*.py' -exec cat {} +", "git ls-files '*.py' | xargs head -3"):
        assert decision(root, asked) == "ask", asked
    assert decision(root, "find . -name '*.py' | xargs wc -l") == "allow"
