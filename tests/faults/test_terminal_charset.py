from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.kit import Project, says
from tests.ui.pty_app import READY, app_in_pty

pytestmark = pytest.mark.slow

POOR = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_stream_that_cannot_say_a_character_is_no_error(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("✓ 🛑 中"))
    done = project.tori("run", "hi", "--mode", "auto", environ=POOR)
    assert (done.returncode, done.stdout) == (0, b"\\u2713 \\U0001f6d1 \\u4e2d\n")
    assert b"Traceback" not in done.stderr
    words = project.tori("--help", environ=POOR)
    assert words.returncode == 0
    script = "export LC_ALL=C PYTHONIOENCODING=ascii PYTHONUTF8=0; tori run hi --mode auto > out 2> err"
    assert project.shell(script).returncode == 0
    assert b"Traceback" not in (project.root / "err").read_bytes()
    with app_in_pty((), cwd=project.root, environ={**project.environ, **POOR, "TORI_MODE": "auto"}) as app:
        app.wait_for(READY)
        app.read(0.4)
        app.send(b"hi\r")
        app.wait_for("done")
        app.wait_for("中")
        app.send(b"\x11")
        assert app.wait() == 0
