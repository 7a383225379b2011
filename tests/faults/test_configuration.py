from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.kit import Project, says
from tests.ui.pty_app import app_in_pty


def config_of(project: Project) -> Path:
    path = Path(project.environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def linked_to_itself(path: Path) -> None:
    # Closed to root too, whom permissions do not stop.
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("spoil", "line", "reason"),
    [
        (lambda path: path.write_text('theme = "a"\ntheme = "b"\n'), ":2: ", "overwrite"),
        (lambda path: path.write_text('\nmodel = "a\n'), ":2: ", "model"),
        (Path.mkdir, "", "is a directory"),
        (linked_to_itself, "", "cannot be read"),
        (lambda path: path.write_text('[limits]\ntokens = "x"\n'), ":2: ", "a whole number"),
        (lambda path: path.write_text('max_tokens = "x"\n'), ":1: ", "max_tokens"),
    ],
    ids=["twice", "quote", "directory", "unreadable", "wrong type", "unknown"],
)
def test_wrong_configuration_is_named_with_path_line_and_reason(
    tmp_path: Path, spoil: Callable[[Path], object], line: str, reason: str
) -> None:
    project = Project.make(tmp_path, says("Hello."))
    path = config_of(project)
    spoil(path)
    done = project.tori("run", "hi", "--mode", "auto")
    assert (done.returncode, done.stdout) == (2, b"")
    message = done.stderr.decode()
    assert f"{path}{line}" in message
    assert reason in message
    assert "Traceback" not in message


def test_byte_order_mark_in_the_configuration_says_nothing(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    config_of(project).write_bytes(b'\xef\xbb\xbfmode = "auto"\n')
    assert project.tori("run", "hi").returncode == 0


def test_app_says_what_is_wrong_with_the_configuration(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    path = config_of(project)
    path.write_text('mode = "auto"\nmodell = 3\n')
    with app_in_pty((), cwd=project.root, environ=project.environ) as app:
        assert app.wait() == 2
        assert "config.toml:2" in app.text


def test_first_run_without_a_key_names_what_works(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    environ = {name: value for name, value in os.environ.items() if "KEY" not in name}
    project.environ = {**environ, "HOME": str(tmp_path)}
    done = project.tori("run", "hi", "--mode", "auto")
    assert done.returncode == 2
    for word in (b"ANTHROPIC_API_KEY", b"OPENAI_API_KEY", b"tori demo"):
        assert word in done.stderr
    with app_in_pty((), cwd=project.root, environ={"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}) as app:
        app.wait_for("Esc quit")
        assert "ANTHROPIC_API_KEY" in app.text
        app.send(b"\x1b")
        assert app.wait() == 0
    # The variable that it names does what it says: the next complaint is another one.
    with_key = project.tori(
        "run",
        "hi",
        "--mode",
        "auto",
        environ={"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    )
    assert b"ANTHROPIC_API_KEY" not in with_key.stderr
    assert with_key.returncode == 5
