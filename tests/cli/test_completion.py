from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENTRY = "from tori_tui.cli.entry import main; main()"

COMPLETE = """
source "$SCRIPT"
COMP_WORDS=($LINE); [ "${LINE: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tori_completion tori
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home of its own, and `tori` on the PATH."""
    program = tmp_path / "bin" / "tori"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{ENTRY}' \"$@\"\n")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "HOME": str(tmp_path), "PATH": path}


def bash(script: str, environ: dict[str, str]) -> str:
    done = subprocess.run(
        ("bash", "--norc", "-c", script), env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_bash_completes_after_the_installation_of_the_readme(tmp_path: Path, environ: dict[str, str]) -> None:
    # The shell is found by looking at the parents of the process.
    assert "completion installed" in bash("tori --install-completion; true", environ)
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert str(script) in (tmp_path / ".bashrc").read_text()
    for line, offered in (("tori re", "resume rewind replay"), ("tori run --mode ", "plan ask edit auto")):
        assert bash(COMPLETE, {**environ, "SCRIPT": str(script), "LINE": line}).split() == offered.split()


def test_the_completion_of_a_shell_is_shown(environ: dict[str, str]) -> None:
    assert "_TORI_COMPLETE=complete_bash" in bash("tori --show-completion; true", environ)


@pytest.mark.parametrize("asked", ["source_zsh", "zsh_source"])
def test_another_shells_completion_is_asked_for_in_either_order(environ: dict[str, str], asked: str) -> None:
    assert "_TORI_COMPLETE=complete_zsh" in bash("tori", {**environ, "_TORI_COMPLETE": asked})
