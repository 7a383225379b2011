"""Runs the command `tori` as a process of its own, with recorded replies for a model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TORI = (sys.executable, "-c", "from tori_tui.cli.main import main; main()")

LIMIT_S = 60


@dataclass
class Project:
    """A git repository with one file, and a recording beside it."""

    root: Path
    recording: Path
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    @classmethod
    def make(cls, folder: Path, recording: str) -> Project:
        root = folder / "project"
        root.mkdir()
        (root / "a.txt").write_text("one\n")
        subprocess.run(("git", "init", "--quiet"), cwd=root, check=True)
        path = folder / "replies.toml"
        path.write_text(recording)
        project = cls(root, path)
        project.environ["TORI_MODEL"] = f"replay/{path}"
        return project

    def tori(
        self, *arguments: str | bytes, stdin: bytes | None = None, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end, without a terminal."""
        return subprocess.run(
            (*TORI, *arguments),
            cwd=self.root,
            env={**self.environ, **(environ or {})},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start it with an open pipe for its stdin; killed at the end, if it is still there."""
        process = subprocess.Popen(
            (*TORI, *arguments),
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def shell(self, script: str) -> subprocess.CompletedProcess[bytes]:
        """Run a shell script in which `$TORI` is the command."""
        tori = " ".join(f"'{word}'" for word in TORI)
        return subprocess.run(
            ("bash", "-c", f'tori() {{ {tori} "$@"; }}; {script}'),
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )

    @property
    def traces(self) -> Sequence[Path]:
        return sorted(path for path in (self.root / ".trace").iterdir() if path.is_dir())


def says(text: str) -> str:
    """Return the recording of one answer."""
    return f"[[reply]]\ntext = {_toml(text)}\n"


def calls(name: str, arguments: str, text: str = "") -> str:
    """Return the recording of one reply with one call; arguments are JSON text."""
    call = f"[[reply.call]]\nname = {_toml(name)}\narguments = {_toml(arguments)}\n"
    return f"[[reply]]\ntext = {_toml(text)}\n{call}"


def _toml(text: str) -> str:
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text) + '"'


EDIT = calls("edit_file", '{"path": "a.txt", "old": "one", "new": "two"}')
READ = calls("read_file", '{"path": "a.txt"}')
