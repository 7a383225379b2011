from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says

ABOVE = 'above=$(dirname "$PWD"); echo x > "$above/PWN"; echo y > inside; echo "code $?"'


def project_with(folder: Path, *commands: str) -> Project:
    recorded = "".join(calls("bash", json.dumps({"command": command})) for command in commands)
    project = Project.make(folder, recorded + says("done"))
    project.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    project.environ["XDG_STATE_HOME"] = str(folder / "state")
    return project


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_the_first_line_says_what_holds_and_it_holds(tmp_path: Path, backend: str) -> None:
    project = project_with(tmp_path, ABOVE)
    settings = tmp_path / "config" / "tori" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[sandbox]\nbackend = "{backend}"\n')
    run = project.tori("run", "--sandbox", "--mode", "auto", "go")
    first = run.stderr.decode().splitlines()[0]
    if first.startswith("No sandbox"):
        pytest.skip(f"kernel: {first}")
    assert first.lower().startswith(f"sandbox {backend}: writes only in {project.root}")
    assert "Not held" in first
    assert run.returncode == 0
    assert (project.root / "inside").read_text() == "y\n"
    assert not (tmp_path / "PWN").exists()


def test_without_a_sandbox_nothing_is_said_and_the_command_is_free(tmp_path: Path) -> None:
    project = project_with(tmp_path, ABOVE)
    run = project.tori("run", "--mode", "auto", "go")
    assert b"Sandbox" not in run.stderr
    assert (tmp_path / "PWN").read_text() == "x\n"


def test_where_none_can_be_had_nothing_runs(tmp_path: Path) -> None:
    project = project_with(tmp_path, "echo ran > ran")
    settings = tmp_path / "config" / "tori" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[sandbox]\nenabled = true\nbackend = "bubblewrap"\n')
    programs = tmp_path / "bin"
    programs.mkdir()
    broken = programs / "bwrap"
    broken.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    project.environ["PATH"] = f"{programs}:{project.environ['PATH']}"
    run = project.tori("run", "--mode", "auto", "go")
    assert run.returncode == 2
    assert b"Permission denied" in run.stderr
    assert b"nothing is run" in run.stderr
    assert not (project.root / "ran").exists()
