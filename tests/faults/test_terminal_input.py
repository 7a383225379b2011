from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kit import Project
from tests.faults.terminal_kit import asking_project, opened_app
from tests.ui.pty_app import READY, PtyApp


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return asking_project(tmp_path)


@pytest.fixture
def app(project: Project) -> Iterator[PtyApp]:
    with opened_app(project) as running:
        yield running


def test_bytes_that_are_no_text_kill_no_input(app: PtyApp) -> None:
    app.send(b"\x1b[M\x20\x80\x81")
    app.read(0.3)
    app.send(b"\xff")
    app.read(0.3)
    app.send(b"\xe4\xb8")
    app.read(1.0)
    app.send(b"\xad")
    app.wait_for("中", 10)
    app.send(b"alive")
    app.wait_for("alive", 10)
    assert "Traceback" not in app.text


def test_at_sign_opens_nothing_that_holds_up_the_input(app: PtyApp, project: Project) -> None:
    for n in range(5_000):
        (project.root / f"f{n}").touch()
    app.send(b"@f1")
    app.wait_for("@f1", 5)
    app.send(b"23")
    app.wait_for("@f123", 5)
    app.send(b"\x1b")
    app.read(0.3)
    app.send(b"\x03")
    app.wait_for(READY, 5)


def test_every_way_to_a_line_break_breaks_the_line_and_enter_sends(app: PtyApp) -> None:
    for number, newline in enumerate((b"\x1b[13;2u", b"\x1b[27;2;13~", b"\x1b\r", b"\n", b"\\\r")):
        app.send(b"part%d" % number)
        app.wait_for(f"part{number}", 5)
        app.send(newline)
        app.read(0.4)
    app.send(b"end\r")
    app.wait_for("Allow", 10)
    app.send(b"\x11")
    app.wait()
