"""The app in a terminal of its own, with a recording that asks once for permission."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.kit import Project, calls, says
from tests.ui.pty_app import READY, PtyApp, app_in_pty


def asking_project(folder: Path) -> Project:
    return Project.make(folder, calls("bash", json.dumps({"command": "touch x && true"})) + says("ok"))


@contextmanager
def opened_app(project: Project, **environ: str) -> Iterator[PtyApp]:
    with app_in_pty((), cwd=project.root, environ={**project.environ, "TORI_MODE": "ask", **environ}) as app:
        app.wait_for(READY)
        app.read(0.5)
        yield app


__all__ = ["asking_project", "opened_app"]
