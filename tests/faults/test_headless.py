from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import LIMIT_S, TORI, Project, calls, says

WRITE = calls("write_file", json.dumps({"path": "probe.txt", "content": "x"}))


def test_tool_that_nobody_could_allow_is_no_success(tmp_path: Path) -> None:
    project = Project.make(tmp_path, WRITE + says("I created it."))
    # Without any mode it says so before it begins; with one that asks, the denial is told and counts.
    assert project.tori("run", "create probe.txt").returncode == 2
    done = project.tori("run", "create probe.txt", "--mode", "ask")
    assert done.returncode == 3
    assert b"denied: write_file probe.txt" in done.stderr
    lines = project.tori("run", "create probe.txt", "--mode", "ask", "--json").stdout.splitlines()
    approvals = [json.loads(line) for line in lines if b'"kind":"approval"' in line]
    assert [approval["state"] for approval in approvals] == ["denied"]
    assert not (project.root / "probe.txt").exists()


def test_run_with_an_inherited_open_stdin_answers_and_ends(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("The answer."))
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            (*TORI, "run", "hi", "--mode", "auto"),
            cwd=project.root,
            env=project.environ,
            stdin=reader,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    finally:
        os.close(reader)
        os.close(writer)
    assert (done.returncode, done.stdout) == (0, b"The answer.\n")


@pytest.mark.parametrize("script", ["setsid --wait {} </dev/null", "{} | cat"])
def test_run_without_a_terminal_answers_and_ends(tmp_path: Path, script: str) -> None:
    project = Project.make(tmp_path, says("The answer."))
    words = " ".join(f"'{word}'" for word in (*TORI, "run", "hi", "--mode", "auto"))
    done = project.shell(script.format(words))
    assert (done.returncode, done.stdout) == (0, b"The answer.\n"), done.stderr


def test_bare_call_without_a_terminal_prints_usage_and_fails(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("x"))
    done = project.tori()
    assert done.returncode == 2
    assert b"Usage: tori" in done.stderr
    assert b"  run " in done.stderr


@pytest.mark.parametrize("closed", [">&-", "| true", "2>&- | true"])
def test_output_that_nobody_reads_is_no_traceback(tmp_path: Path, closed: str) -> None:
    project = Project.make(tmp_path, says("word " * 50_000))
    done = project.shell(f"set -o pipefail; tori run hi --mode auto {closed}")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
