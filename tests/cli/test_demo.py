from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from tests.cli.kit import TORI

UNITTEST = (sys.executable, "-B", "-m", "unittest", "-q")


def is_green(project: Path) -> bool:
    return subprocess.run(UNITTEST, cwd=project, capture_output=True, check=False).returncode == 0


def test_the_demo_mends_its_project_and_shows_how(tmp_path: Path) -> None:
    bundled = Path(str(files("tori_tui.demo"))) / "project"
    assert not is_green(bundled)
    environ = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        (*TORI, "demo", "--plain"), cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout
    assert "replies of the model are recorded" in text
    assert text.index("not done: ") < text.index("✗ 2.1") < text.index("✓ 2.1'")
    folded = text[text.index("as `tori show` prints it") :]
    assert [line[:8] for line in folded.splitlines() if re.match(r" *\[", line)] == [
        "[✓] 1. F",
        "[✓] 2. M",
        "    [✗] ",
        "    [✓] ",
        "    [✓] ",
        "[✓] 3. W",
    ]
    assert "check: python3 -m unittest -q → exit 0" in folded
    found = re.search(r"The session: (.+)/\.trace/(\S+)", text)
    assert found is not None
    project = Path(found[1])
    assert is_green(project)
    assert (project / ".trace" / found[2] / "goal.json").is_file()
    diff = subprocess.run(("git", "diff", "--stat"), cwd=project, capture_output=True, text=True, check=True)
    assert "3 files changed" in diff.stdout
    commands = dict(line.split(": ", 1) for line in text.splitlines()[-4:])
    shown = subprocess.run(
        commands["See every step"], shell=True, env=environ, capture_output=True, check=True
    )
    assert b"Hand out the remainder" in shown.stdout
    subprocess.run(commands["Remove it all"], shell=True, check=True)
    assert not project.exists()


def test_the_demo_reads_none_of_the_users_configuration(tmp_path: Path) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("rubbish = = =")
    environ = {**os.environ, "TMPDIR": str(tmp_path), "TORI_MODE": "plan", "TORI_MODEL": "none/none"}
    done = subprocess.run((*TORI, "demo"), cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
