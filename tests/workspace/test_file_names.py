from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tori_tui.domain.file_names import FileNames
from tori_tui.workspace.file_names import list_files


@pytest.fixture(params=["with ripgrep", "without"])
def any_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setenv("PATH", "/nonexistent")
    elif shutil.which("rg") is None:
        pytest.skip("needs rg")


def files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


@pytest.mark.usefixtures("any_engine")
def test_ignored_files_and_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    files(tmp_path, "a.py", "docs/guide 1.md", "build/x.o", ".env", ".git/config", "文件.txt")
    (tmp_path / ".gitignore").write_text("build/\n.env\n")
    assert sorted(list_files(tmp_path).paths) == [".gitignore", "a.py", "docs/guide 1.md", "文件.txt"]


@pytest.mark.usefixtures("any_engine")
def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    files(tmp_path, "ok", "line\nbreak", "esc\x1b[31m")
    assert list_files(tmp_path).paths == ("ok",)


@pytest.mark.usefixtures("any_engine")
def test_an_empty_folder_has_no_names(tmp_path: Path) -> None:
    assert list_files(tmp_path) == FileNames()


@pytest.mark.usefixtures("any_engine")
def test_more_than_the_limit_is_not_complete(tmp_path: Path) -> None:
    files(tmp_path, *(f"f{n}" for n in range(7)))
    found = list_files(tmp_path, limit=5)
    assert (len(found.paths), found.is_complete) == (5, False)
    assert list_files(tmp_path, limit=7).is_complete


@pytest.mark.usefixtures("any_engine")
def test_a_look_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    files(tmp_path, "a")
    assert not list_files(tmp_path, lambda: True).is_complete


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    found = list_files(tmp_path / "gone")
    assert found.paths == ()
    assert "No such file" in found.fault


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    files(tmp_path, *(f"f{n}" for n in range(50)))
    list_files(tmp_path, limit=1)
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running
