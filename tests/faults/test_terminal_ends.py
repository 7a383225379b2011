from __future__ import annotations

import json
import os
import signal
import statistics
import time
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says
from tests.fakes.processes import pids_of
from tests.trace.records import record, session, write_lines
from tests.ui.fakes import answered, said
from tests.ui.pty_app import READY, app_in_pty
from tori_tui.trace.store import MESSAGES_NAME

pytestmark = pytest.mark.slow


def test_terminal_that_goes_away_takes_tori_and_its_commands_along(tmp_path: Path) -> None:
    project = Project.make(tmp_path, calls("bash", '{"command": "sleep 500.125"}') + says("ok"))
    with app_in_pty((), cwd=project.root, environ={**project.environ, "TORI_MODE": "auto"}) as app:
        app.wait_for(READY)
        app.read(0.5)
        app.send(b"go\r")
        end = time.monotonic() + 15
        while not pids_of("500.125", project.root) and time.monotonic() < end:
            app.read(0.1)
        assert pids_of("500.125", project.root)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, app.master)
        os.close(null)
        end = time.monotonic() + 10
        while app.code is None and time.monotonic() < end:
            pid, status = os.waitpid(app.pid, os.WNOHANG)
            app.code = os.waitstatus_to_exitcode(status) if pid else None
            time.sleep(0.05)
        assert app.code is not None
    assert pids_of("500.125", project.root) == []
    lines = (project.traces[0] / MESSAGES_NAME).read_bytes().splitlines()
    assert json.loads(lines[-1])["status"] == "interrupted"


def test_keys_are_shown_at_once_after_a_very_long_session(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("word " * 20_000))
    text = "A long answer with many words. " * 110
    begun = session()[:2]
    events = [event for n in range(1_500) for event in (said(f"question {n}"), answered(f"{n} {text}"))]
    records = [*begun, *(record(event, seq) for seq, event in enumerate(events, len(begun) + 1))]
    path = write_lines(project.root / ".trace" / "20260101-000000-long", records)
    assert path.stat().st_size > 5_000_000
    with app_in_pty(("resume",), cwd=project.root, environ={**project.environ, "TORI_MODE": "auto"}) as app:
        app.wait_for("more characters")
        app.read(1.5)
        waits: list[float] = []
        for number in range(50):
            app.forget()
            key = chr(ord("a") + number % 26).encode()
            began = time.monotonic()
            app.send(key)
            while key not in app.raw and time.monotonic() < began + 5:
                app.read(0.005)
            waits.append(time.monotonic() - began)
        assert statistics.quantiles(waits, n=20)[-1] < 0.2
        status = Path(f"/proc/{app.pid}/status").read_text()
        resident_mb = int(status.split("VmRSS:")[1].split()[0]) / 1024
        assert resident_mb < 300
        app.send(b"\x03\x03")
        app.read(0.5)
        os.kill(app.pid, signal.SIGTERM)
        assert app.wait() in (0, 143)
