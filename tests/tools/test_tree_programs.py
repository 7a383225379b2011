from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says
from tori_tui.permission.command_class import classify_command
from tori_tui.permission.policy import PermissionQuestion, decide
from tori_tui.permission.rules import parse_rule
from tori_tui.tools.tree_programs import why_not_free

SYSTEM = os.environ["PATH"]


def plant(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def why(root: Path, command: str, path: str, **variables: str) -> str:
    return why_not_free(classify_command(command), root, root, {"PATH": path, **variables})


@pytest.mark.parametrize(
    ("folder", "entry", "command"),
    [
        ("node_modules/.bin", "{root}/node_modules/.bin", "ls"),
        ("tools", "tools", "wc -l a.py | sort -n"),
        (".", "", "ls -la"),
        ("sub/bin", "bin", "cd sub && cat a.py"),
        ("bin", "{root}/bin", "find . -name '*.py' -exec head -3 {{}} +"),
        ("bin", "{root}/bin", "find . -name '*.py' | xargs wc -l"),
        ("bin", "{root}/bin", "timeout 5 bash -c 'stat a.py'"),
        ("bin", "{base}/linked", "grep -n x a.py"),
    ],
)
def test_a_reader_that_is_a_file_of_the_work_tree_is_not_free(
    tmp_path: Path, folder: str, entry: str, command: str
) -> None:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("tree/bin")
    path = f"{entry.format(root=root, base=tmp_path)}:{SYSTEM}"
    command = command.format()
    assert classify_command(command).is_reading
    assert why(root, command, path) == ""
    for name in ("ls", "sort", "cat", "head", "wc", "stat", "grep"):
        plant(root / folder / name)
    assert "a file of the work tree" in why(root, command, path)
    assert why(root, command, f"{SYSTEM}:{path}") == "", "what comes first is run"


def test_helpers_of_readers_count_and_a_virtual_environments_python_does_not(tmp_path: Path) -> None:
    path = f"{tmp_path}/bin:{SYSTEM}"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("/usr/bin/python3")
    assert why(tmp_path, "python3 --version", path) == ""
    assert why(tmp_path, "tar tf a.tar.gz", path) == ""
    plant(tmp_path / "bin" / "gzip")
    assert "gzip" in why(tmp_path, "tar tf a.tar.gz", path)
    (tmp_path / "bin" / "gzip").unlink()
    (tmp_path / "bin" / "tr").symlink_to("/usr/bin/truncate")
    assert "tr would be" in why(tmp_path, "tr -s 0 a.py", path)


def test_variables_that_load_from_the_work_tree_count(tmp_path: Path) -> None:
    assert why(tmp_path, "ls", SYSTEM, BASH_ENV="/etc/bashrc", LD_LIBRARY_PATH="/usr/lib:") == ""
    assert why(tmp_path, "ls", SYSTEM, ENV="production", LD_PRELOAD="libjemalloc.so.2") == ""
    assert "BASH_ENV" in why(tmp_path, "ls", SYSTEM, BASH_ENV="rc")
    assert "BASH_ENV" in why(tmp_path, "ls", SYSTEM, BASH_ENV=f"{tmp_path}/rc")
    assert "LD_PRELOAD" in why(tmp_path, "ls", SYSTEM, LD_PRELOAD="/a.so:./b.so")
    plant(tmp_path / "libc.so.6")
    assert "LD_LIBRARY_PATH" in why(tmp_path, "ls", SYSTEM, LD_LIBRARY_PATH="/usr/lib:")


def test_what_is_not_free_is_asked_refused_in_plan_and_left_to_rules() -> None:
    both = PermissionQuestion("bash", "execute", "/home/me/p", command="ls && git push")
    only_push = (parse_rule("allow", "bash(git push)"),)
    assert decide("edit", both, only_push).decision == "allow"
    both = replace(both, not_free="ls would be bin/ls")
    assert decide("edit", both, only_push).decision == "ask", "the rule says nothing of ls"
    ls = PermissionQuestion("bash", "execute", "/home/me/p", command="ls", not_free="ls would be bin/ls")
    assert "bin/ls" in decide("edit", ls).reason
    assert decide("plan", ls).decision == "deny"
    assert decide("auto", ls).decision == "allow"
    assert decide("ask", ls, (parse_rule("allow", "bash(ls)"),)).decision == "allow"


def test_a_file_that_the_agent_wrote_never_runs_as_a_reader(tmp_path: Path) -> None:
    commands = [json.dumps({"command": "wc -l a.py"}), json.dumps({"command": "git status"})]
    recorded = "".join(calls("bash", command) for command in commands)
    project = Project.make(tmp_path, recorded + says("done"))
    pwn = tmp_path / "PWN"
    for name in ("wc", "git", "rg", "bash"):
        plant(project.root / "tools" / name, f"#!/bin/sh\ntouch {pwn}\n")
    project.environ["PATH"] = f"{project.root}/tools:{project.environ['PATH']}"
    run = project.tori("run", "--json", "--mode", "edit", "go")
    assert run.stdout.count(b"a file of the work tree") >= len(commands), run.stderr
    assert not pwn.exists()
