from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.kit import Project, says
from tests.ui.pty_app import app_in_pty

pytestmark = pytest.mark.slow


def test_a_name_for_several_sessions_lets_the_user_choose_and_change(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("One is done."))
    project.environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    for mission in ("first mission", "second mission"):
        assert project.tori("run", mission, "--mode", "auto").returncode == 0
    # Both may have begun in the same second.
    by_mission = {(trace / "goal.json").read_text().count("second"): trace for trace in project.traces}
    first, second = by_mission[0], by_mission[1]
    with app_in_pty(("resume", "20"), cwd=project.root, environ=project.environ) as app:
        app.wait_for("2 of 2 sessions")
        app.send(b"first")
        app.wait_for("1 of 2 sessions")
        app.forget()
        app.send(b"\r")
        app.wait_for("─ first mission ─")
        app.forget()
        app.send(b"/resume\r")
        app.wait_for("2 of 2 sessions")
        app.send(b"second")
        app.wait_for("1 of 2 sessions")
        app.send(b"\r")
        app.read(0.8)
        app.send(b"typed meanwhile")
        app.wait_for("─ second mission ─")
        app.wait_for("typed meanwhile")
        app.send(b"\x11")
        assert app.wait() == 0
        app.read(0.5)
        assert second.name in app.text
        assert first.name not in app.text.rpartition("The session")[2]
