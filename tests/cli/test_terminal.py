from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.kit import EDIT, TORI, Project, calls, says

LIMIT_S = 30

QUESTION = "n REASON: no  > "


class Terminal:
    """A pseudo-terminal with a program that it controls."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master = master
        self.process = process
        self.text = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, wanted: str) -> str:
        """Read until a text stands on the screen, and return what was read since the last call."""
        start = len(self.text)
        deadline = time.monotonic() + LIMIT_S
        while wanted not in self.text[start:]:
            is_open = self._read(0.1)
            is_here = wanted in self.text[start:]
            assert is_here or (is_open and time.monotonic() < deadline), f"no {wanted!r}: {self.text}"
        return self.text[start:]

    def rest(self, *, seconds: float = LIMIT_S) -> str:
        """Read until the program ends, or for some time, and return what was read."""
        start = len(self.text)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._read(0.1):
            pass
        return self.text[start:]

    def _read(self, wait_s: float) -> bool:
        if not select.select((self._master,), (), (), wait_s)[0]:
            return True
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def terminal(project: Project, *arguments: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        ("setsid", "--ctty", *TORI, *arguments),
        cwd=project.root,
        env={**project.environ, "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    )
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_an_edit_is_asked_with_its_whole_diff_and_done_after_yes(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("I changed it."))
    with terminal(project, "run", "change it") as screen:
        asked = screen.until(QUESTION)
        assert "Allow edit_file a.txt?" in asked
        assert "-one" in asked
        assert "+two" in asked
        assert (project.root / "a.txt").read_text() == "one\n"
        screen.type("y\n")
        assert "I changed it." in screen.rest()
        assert screen.process.wait(LIMIT_S) == 0
    assert (project.root / "a.txt").read_text() == "two\n"


def test_a_key_typed_before_its_question_approves_nothing(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("I did not."))
    with terminal(project, "run", "change it") as screen:
        screen.type("y\ny\n")
        screen.until(QUESTION)
        screen.rest(seconds=1.0)
        assert (project.root / "a.txt").read_text() == "one\n"
        screen.type("n leave that file\n")
        screen.rest()
        # The user decided that: no failure.
        assert screen.process.wait(LIMIT_S) == 0
    assert (project.root / "a.txt").read_text() == "one\n"
    assert "leave that file" in (project.traces[0] / "messages.jsonl").read_text()


def test_a_line_that_is_no_answer_is_asked_again(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("ok"))
    with terminal(project, "run", "change it") as screen:
        screen.until(QUESTION)
        screen.type("maybe\n")
        screen.until(QUESTION)
        screen.type("y\n")
        screen.rest()
        assert screen.process.wait(LIMIT_S) == 0


def test_an_answer_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    again = calls("edit_file", '{"path": "a.txt", "old": "two", "new": "three"}')
    project = Project.make(tmp_path, EDIT + again + says("ok"))
    with terminal(project, "run", "change it") as screen:
        screen.until(QUESTION)
        screen.type("a\n")
        assert QUESTION not in screen.rest()
        assert screen.process.wait(LIMIT_S) == 0
    assert (project.root / "a.txt").read_text() == "three\n"


def test_a_question_of_the_model_takes_an_option_by_its_number(tmp_path: Path) -> None:
    ask = calls("ask_user", '{"question": "Which colour?", "options": ["red", "blue\\u001b[2J"]}')
    project = Project.make(tmp_path, ask + says("ok"))
    with terminal(project, "run", "paint") as screen:
        asked = screen.until("\n> ")
        assert "? Which colour?" in asked
        assert "  1. red" in asked
        assert "\x1b[2J" not in asked
        screen.type("1\n")
        screen.rest()
        assert screen.process.wait(LIMIT_S) == 0
    records = map(json.loads, (project.traces[0] / "messages.jsonl").read_text().splitlines())
    assert [record["content"] for record in records if record.get("role") == "tool"] == [
        "The user's answer: red"
    ]


def test_ctrl_c_at_a_question_interrupts(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("ok"))
    with terminal(project, "run", "change it") as screen:
        screen.until(QUESTION)
        screen.type("\x03")
        text = screen.rest()
        assert screen.process.wait(LIMIT_S) == 130
        assert "Traceback" not in text
    assert (project.root / "a.txt").read_text() == "one\n"


def test_the_end_of_the_input_denies(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("ok"))
    with terminal(project, "run", "change it") as screen:
        screen.until(QUESTION)
        screen.type("\x04")
        screen.rest()
        assert screen.process.wait(LIMIT_S) == 0
    assert (project.root / "a.txt").read_text() == "one\n"


def test_a_terminal_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    project = Project.make(
        tmp_path, calls("bash", '{"command": "touch begun; exec sleep 54.31"}') + says("ok")
    )
    with terminal(project, "run", "wait", "--mode", "auto") as screen:
        while not (project.root / "begun").exists():
            assert screen.process.poll() is None, screen.text
            screen.rest(seconds=0.2)
        process = screen.process
        os.close(screen._master)
        screen._master = os.open(os.devnull, os.O_RDONLY)
        assert process.wait(LIMIT_S) == 130
    left = subprocess.run(("pgrep", "-f", "sleep 54.31"), capture_output=True, check=False)
    assert left.stdout == b""
