"""The demo's session: the bundled project in a temporary directory, the real agent, recorded replies.

Must not read the user's configuration: the demo is the same for everybody.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from tori_tui.bootstrap import SessionOptions
from tori_tui.cli import streams
from tori_tui.cli.called_as import demo_left
from tori_tui.cli.exit_codes import FAILED
from tori_tui.cli.front import ShownSession
from tori_tui.cli.one_shot import run_session
from tori_tui.cli.progress import Progress
from tori_tui.cli.show_trace import print_folded
from tori_tui.config import LoadedSettings, Settings
from tori_tui.domain.commands import SubmitPrompt
from tori_tui.domain.errors import UsageError

MISSION: Final = "A test of this till is red. Find out why, mend it, and write the change down."

_GIT_STEPS: Final = (
    ("init", "--quiet"),
    ("add", "--all"),
    ("commit", "--quiet", "--message", "A till with a red test"),
)

_GIT_AS_DEMO: Final = (
    *("git", "-c", "user.name=tori demo", "-c", "user.email=demo@localhost"),
    *("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"),
)


class _DemoProgress(Progress):
    """Prints everything to standard output, and remembers where the trace lies."""

    directory: Path | None = None

    def begin(self, session: ShownSession, notices: tuple[str, ...]) -> None:
        """Remember the trace."""
        super().begin(session, notices)
        self.directory = session.directory


def play_demo() -> int:
    """Play the demo and return the exit code.

    Raises:
        UsageError: The temporary directory or the project's repository cannot be made.
    """
    project = new_project()
    streams.write_out(
        "This is a demo: the replies of the model are recorded, no key and no network are used.\n"
        "The tools truly run, in a copy of a small project: " + str(project) + "\n\n"
        f"Mission: {MISSION}\n\n"
    )
    with as_file(files("tori_tui.demo") / "replies.toml") as replies:
        settings = replace(Settings(), model=f"replay/{replies}", mode="auto")
        loaded = LoadedSettings(settings, {})
        front = _DemoProgress(sys.stdout)
        options = SessionOptions(cwd=project, model=settings.model, mode=settings.mode)
        code = asyncio.run(run_session(loaded, options, SubmitPrompt(MISSION), front))
    if front.directory is None:
        return FAILED
    streams.write_out("\nThe session as `tori show` prints it:\n\n")
    print_folded(front.directory)
    streams.write_out(f"\n{demo_left(front.directory)}")
    return code


def new_project() -> Path:
    """Return a fresh copy of the demo's project, under git where there is git.

    Raises:
        UsageError: It cannot be made.
    """
    try:
        project = Path(tempfile.mkdtemp(prefix="tori-demo-")).resolve()
        with as_file(files("tori_tui.demo") / "project") as bundled:
            shutil.copytree(
                bundled, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        (project / ".gitignore").write_text("__pycache__/\n")
        for step in _GIT_STEPS:
            subprocess.run((*_GIT_AS_DEMO, *step), cwd=project, check=True, capture_output=True)
    except FileNotFoundError as error:
        if error.filename != "git":
            raise UsageError(f"The demo's project cannot be made: {error}.") from error
        streams.write_err("git is not installed: the demo runs without it, but shows no diff.\n")
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"The demo's project cannot be made: {error}.") from error
    return project


__all__ = ["MISSION", "new_project", "play_demo"]
