from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tori_tui.workspace.git_head import read_git_origin


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(("git", *arguments), cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/team/app.git",
        "https://me:hunter2@Example.com/team/app",
        "git@example.com:team/app.git",
        "ssh://git@example.com/team/app/",
    ],
)
def test_an_origin_is_the_same_however_it_is_reached(tmp_path: Path, url: str) -> None:
    git(tmp_path, "init")
    assert read_git_origin(tmp_path) == ""
    git(tmp_path, "remote", "add", "other", "https://example.com/fork/app")
    assert read_git_origin(tmp_path) == ""
    git(tmp_path, "remote", "add", "origin", url)
    assert read_git_origin(tmp_path) == "example.com/team/app"


def test_a_linked_work_tree_has_the_origin_of_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init")
    git(main, "remote", "add", "origin", "https://example.com/team/app")
    git(main, "commit", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "../linked")
    assert read_git_origin(tmp_path / "linked") == "example.com/team/app"
    assert read_git_origin(tmp_path) == ""
