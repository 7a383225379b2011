from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tori_tui.cli.draft import KeptDraft

WRITES = """
import os, sys
from pathlib import Path
from tori_tui.cli.draft import KeptDraft
draft = KeptDraft(Path(sys.argv[1]), "/project")
draft.keep("half a th\u00e9")
draft.keep("half a thought \u4e2d")
print("kept", flush=True)
sys.stdin.read()
"""


def writer(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    return process


def test_a_killed_tori_s_draft_comes_back_to_the_same_project_alone(tmp_path: Path) -> None:
    with writer(tmp_path) as process:
        process.kill()
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeptDraft(tmp_path, "/other").take_over() == ""
    draft = KeptDraft(tmp_path, "/project")
    assert draft.take_over() == "half a thought 中"
    # Not before something else is kept: the next kill may be near.
    assert KeptDraft(tmp_path, "/project").take_over() == "half a thought 中"
    draft.keep("")
    assert KeptDraft(tmp_path, "/project").take_over() == ""
    assert list(tmp_path.iterdir()) == []


def test_the_draft_of_a_tori_that_lives_is_let_alone(tmp_path: Path) -> None:
    with writer(tmp_path) as process:
        assert KeptDraft(tmp_path, "/project").take_over() == ""
        process.kill()
    assert KeptDraft(tmp_path, "/project").take_over() == "half a thought 中"


def test_one_that_was_just_taken_over_is_not_taken_again(tmp_path: Path) -> None:
    with writer(tmp_path) as first:
        first.kill()
    takes = WRITES.replace('draft.keep("half a th\u00e9")', "assert draft.take_over()").replace(
        'draft.keep("half a thought \u4e2d")', ""
    )
    command = [sys.executable, "-c", takes, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout is not None
        assert second.stdout.readline() == "kept\n"
        assert KeptDraft(tmp_path, "/project").take_over() == ""
        second.kill()
    assert KeptDraft(tmp_path, "/project").take_over() == "half a thought 中"


def test_two_in_one_project_lose_neither_of_their_drafts(tmp_path: Path) -> None:
    with writer(tmp_path) as first, writer(tmp_path) as second:
        first.kill()
        second.kill()
    draft = KeptDraft(tmp_path, "/project")
    assert draft.take_over() == "half a thought 中"
    draft.keep("")
    assert draft.take_over() == "half a thought 中"
    draft.keep("")
    assert draft.take_over() == ""


def test_one_that_starts_while_another_writes_keeps_its_own(tmp_path: Path) -> None:
    with writer(tmp_path) as process:
        draft = KeptDraft(tmp_path, "/project")
        assert draft.take_over() == ""
        draft.keep("mine")
        assert KeptDraft(tmp_path, "/project").take_over() == "mine"
        draft.keep("")
        process.kill()
    assert KeptDraft(tmp_path, "/project").take_over() == "half a thought 中"


@pytest.mark.parametrize(
    "rubbish", ["", "{", "[]", '{"text": 3, "pid": 1, "start_ticks": 2}', '{"text": "x"}']
)
def test_rubbish_is_no_draft_and_gives_way(tmp_path: Path, rubbish: str) -> None:
    KeptDraft(tmp_path, "/project").keep("x")
    (path,) = tmp_path.iterdir()
    path.write_text(rubbish)
    draft = KeptDraft(tmp_path, "/project")
    assert draft.take_over() == ""
    draft.keep("new")
    assert KeptDraft(tmp_path, "/project").take_over() == "new"


def test_without_a_place_nothing_is_kept_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    draft = KeptDraft(tmp_path / "file" / "drafts", "/project")
    draft.keep("lost")
    draft.keep("")
    assert draft.take_over() == ""
