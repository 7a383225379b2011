from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kit import Project
from tests.faults.terminal_kit import asking_project, opened_app
from tests.ui.pty_app import READY, PtyApp, app_in_pty

pytestmark = pytest.mark.slow

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(app: PtyApp) -> float:
    fields = Path(f"/proc/{app.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return asking_project(tmp_path)


@pytest.fixture
def app(project: Project) -> Iterator[PtyApp]:
    with opened_app(project) as running:
        yield running


def test_waiting_costs_no_processor_time(app: PtyApp) -> None:
    app.read(1.5)
    before = cpu_s(app)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        app.read(0.5)
    # Below 1 % and 3 %, and the two ticks by which the kernel counts.
    assert cpu_s(app) - before <= 0.03 + 2 / TICKS_PER_S
    app.send(b"go\r")
    app.wait_for("Allow")
    app.read(1.5)
    before = cpu_s(app)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        app.read(0.5)
    assert cpu_s(app) - before <= 0.09 + 2 / TICKS_PER_S


def test_no_color_and_a_dumb_terminal_are_obeyed(project: Project) -> None:
    with app_in_pty((), cwd=project.root, environ={**project.environ, "NO_COLOR": "1"}) as app:
        app.wait_for(READY)
        assert b"\x1b[38;5;" not in app.raw
        assert b"\x1b[38;2;" not in app.raw
    with app_in_pty((), cwd=project.root, environ={**project.environ, "TERM": "dumb"}) as app:
        assert app.wait() == 2
        assert "TERM=dumb" in app.text
    with app_in_pty((), cwd=project.root, environ={**project.environ, "TERM": "xterm-16color"}) as app:
        app.wait_for(READY)
