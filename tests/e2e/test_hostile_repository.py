from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says
from tori_tui.trace.store import MESSAGES_NAME

PLANTED = "20260101-000000-evil"


def without_git(root: Path) -> Path:
    (root / ".git").rename(root.parent / "git")
    return root / ".git"


def git_is_a_pipe(root: Path) -> None:
    os.mkfifo(without_git(root))


def git_leads_nowhere(root: Path) -> None:
    without_git(root).write_text("gitdir: ../../nowhere\0\n" * 3)


def git_leads_to_itself(root: Path) -> None:
    without_git(root).symlink_to(".git")


def pipes_and_a_file_for_traces(root: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", ".gitignore", "a.fifo", ".tori/config.toml", ".tori/agents/x.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(root / name)
    (root / ".trace").write_text("x")


def names_and_links_and_huge_files(root: Path) -> None:
    for name in ("a\x1b]0;pwn\x07b.txt", "line\nbreak.md", "\x1b[2Jx", "[red]b[bold]", "\u202egpj.exe"):
        (root / name).write_text("x\n")
    for name in ("huge.bin", "a.py"):
        with (root / name).open("wb") as file:
            file.truncate(3_000_000_000)
    for name, target in (
        ("passwd", "/etc/passwd"),
        ("up", ".."),
        ("loop", "loop"),
        ("AGENTS.md", "/etc/passwd"),
    ):
        (root / name).symlink_to(target)
    (root.parent / "target").mkdir()
    (root / ".trace").symlink_to("../target")


def a_session_is_planted(root: Path) -> None:
    folder = root / ".trace" / PLANTED
    folder.mkdir(parents=True)
    (folder / MESSAGES_NAME).write_bytes(
        b'{"v":1,"kind":"run","status":"running","mode":"auto"}\n' + b"\xff\n{"
    )
    (folder / "meta.json").write_text('{"id": 3}')
    (folder / "outputs").symlink_to("/etc")
    (root / ".trace" / ".gitignore").symlink_to("../../ignored")
    (root / ".trace" / "linked").symlink_to("../..")


ATTACKS: tuple[Callable[[Path], None], ...] = (
    git_is_a_pipe,
    git_leads_nowhere,
    git_leads_to_itself,
    pipes_and_a_file_for_traces,
    names_and_links_and_huge_files,
    a_session_is_planted,
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_repository_hangs_crashes_or_steers_tori(tmp_path: Path, attack: Callable[[Path], None]) -> None:
    looks = (("glob_files", {"pattern": "**"}), ("read_file", {"path": "passwd"}))
    recorded = "".join(calls(name, json.dumps(arguments)) for name, arguments in looks)
    project = Project.make(tmp_path, recorded + says("Hello."))
    project.environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    attack(project.root)
    before = set(tmp_path.iterdir())
    outputs = []
    for words in (("run", "hi", "--mode", "edit"), ("show", "--unfold")):
        done = project.tori(*words)
        assert done.returncode == 0, (words, done.stderr)
        outputs += [done.stdout, done.stderr]
    told = b"\n".join(outputs)
    assert b"Hello." in outputs[0]
    assert b"Traceback" not in told
    assert b"\x1b" not in told
    assert b"root:x:0" not in told
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"state"}, "it wrote beside the tree"
    assert not (tmp_path / "target").exists() or os.listdir(tmp_path / "target") == []


def test_a_planted_session_whose_file_is_a_link_changes_nothing_of_the_users(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    mine = tmp_path / "mine.txt"
    mine.write_text("no record\nand no end of line")
    folder = project.root / ".trace" / PLANTED
    folder.mkdir(parents=True)
    (folder / MESSAGES_NAME).symlink_to(mine)
    done = project.tori("run", "--resume", PLANTED, "hi", "--mode", "auto")
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert mine.read_text() == "no record\nand no end of line"


def test_a_planted_session_brings_no_mode_with_it(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Begun."))
    assert project.tori("run", "begin", "--mode", "auto").returncode == 0
    project.recording.write_text(calls("bash", '{"command": "touch PWN"}') + says("Done."))
    done = project.tori("run", "--resume", "", "go on", "--mode", "ask")
    assert done.returncode == 3, done.stderr
    assert not (project.root / "PWN").exists()


def test_programs_that_a_repository_names_run_neither_by_tori_nor_by_a_reading_command(
    tmp_path: Path,
) -> None:
    commands = ("git status", "git diff", "git log -p -1")
    recorded = "".join(calls("bash", json.dumps({"command": command})) for command in commands)
    project = Project.make(tmp_path, recorded + says("done"))
    root, pwn = project.root, tmp_path / "PWN"

    def git(*words: str) -> None:
        as_somebody = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(("git", *as_somebody, *words), cwd=root, check=True, capture_output=True)

    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git("add", ".")
    git("commit", "-qm", "x")
    for name in ("core.fsmonitor", "filter.evil.clean", "diff.evil.textconv", "diff.external"):
        git("config", name, f"touch {pwn}; cat")
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {pwn}\n")
    hook.chmod(0o755)
    pwn.unlink(missing_ok=True)
    (root / "a.txt").write_text("two\n")
    done = project.tori("run", "go", "--mode", "edit")
    assert done.returncode == 3, done.stderr
    assert done.stderr.count(b"denied: bash") == len(commands)
    assert not pwn.exists()
