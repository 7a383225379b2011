from __future__ import annotations

import json
from pathlib import Path

from tests.cli.kit import EDIT, Project, says
from tests.cli.test_terminal import terminal
from tests.ui.pty_app import READY, app_in_pty

PROMPT = "Enter: not now  > "


def project_with_settings(tmp_path: Path, recording: str = EDIT + says("Done.")) -> Project:
    project = Project.make(tmp_path, recording)
    (project.root / ".tori" / "agents").mkdir(parents=True)
    (project.root / ".tori" / "config.toml").write_text('mode = "auto"\n')
    (project.root / ".tori" / "agents" / "sly.md").write_text("\x1b]0;sly\x07\n")
    return project


def answers(project: Project) -> dict[str, dict[str, str]]:
    path = Path(project.environ["XDG_STATE_HOME"]) / "tori" / "trusted_folders.json"
    found: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def test_a_run_shows_the_files_and_follows_them_after_yes(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path)
    with terminal(project, "run", "change it") as screen:
        asked = screen.until(PROMPT)
        assert 'mode = "auto"' in asked
        assert "\x1b]0;sly" not in asked
        screen.type("y\n")
        screen.rest()
        assert screen.process.wait(5) == 0
    assert (project.root / "a.txt").read_text() == "two\n"
    with terminal(project, "run", "again") as screen:
        assert "Trust these files" not in screen.rest()


def test_not_now_leaves_the_files_unread_and_asks_again_next_time(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path, says("Hello."))
    for _ in range(2):
        with terminal(project, "run", "hi") as screen:
            screen.until(PROMPT)
            screen.type("\n")
            assert "is not read" in screen.rest()
    assert answers(project) == {}


def test_no_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path, says("Hello."))
    with terminal(project, "run", "hi") as screen:
        screen.until(PROMPT)
        screen.type("n\n")
        screen.rest()
    with terminal(project, "run", "hi") as screen:
        text = screen.rest()
        assert "Trust these files" not in text
        assert "is not read" in text
    assert [answer["trusted"] for answer in answers(project).values()] == ["no"]


def test_a_key_typed_before_the_question_trusts_nothing(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path, says("Hello."))
    with terminal(project, "run", "hi") as screen:
        screen.type("y\n")
        screen.until(PROMPT)
        screen.rest(seconds=0.5)
        assert answers(project) == {}


def test_without_a_terminal_nothing_is_asked_and_the_files_are_named(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path, says("Hello."))
    done = project.tori("run", "--mode", "edit", "hi")
    assert (done.returncode, done.stdout) == (0, b"Hello.\n")
    assert b"is not read (agents/sly.md, config.toml)" in done.stderr
    assert project.tori("run", "hi").returncode == 2


def test_the_app_asks_before_it_opens(tmp_path: Path) -> None:
    project = project_with_settings(tmp_path, says("Hello."))
    with app_in_pty((), cwd=project.root, environ=project.environ) as app:
        app.wait_for(PROMPT)
        assert READY not in app.text
        app.send(b"y\n")
        app.wait_for(READY)
        app.wait_for("auto")
    assert [answer["trusted"] for answer in answers(project).values()] == ["yes"]
