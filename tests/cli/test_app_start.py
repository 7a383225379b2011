from __future__ import annotations

import json
import os
import pty
import select
import stat
import termios
import tty
from pathlib import Path

import pytest

from tori_tui.cli import entry, main
from tori_tui.cli.app_session import configured_theme
from tori_tui.cli.commands import COMMANDS
from tori_tui.cli.history import ENTRIES_LIMIT, FILE_LIMIT_BYTES, History
from tori_tui.cli.terminal import ASK_BACKGROUND, EarlyTerminal


def test_every_command_is_where_the_table_says() -> None:
    app = main.make_app()
    named = {info.name for info in app.registered_commands} | {info.name for info in app.registered_groups}
    assert named == set(COMMANDS)


def test_a_call_builds_only_the_command_that_it_names() -> None:
    app = main.make_app(["list"])
    assert [info.name for info in app.registered_commands] == ["list"]


def test_only_a_bare_call_or_a_folder_goes_the_short_way(tmp_path: Path) -> None:
    assert entry.app_directory([]) == Path()
    assert entry.app_directory([str(tmp_path)]) == tmp_path
    assert entry.app_directory(["run"]) is None
    assert entry.app_directory([str(tmp_path / "missing")]) is None
    assert entry.app_directory([str(tmp_path), "--model", "x"]) is None
    assert entry.app_directory(["--help"]) is None


def test_a_folder_of_a_commands_name_needs_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path)
    assert entry.app_directory(["run"]) is None
    assert entry.app_directory(["./run"]) == Path("run")


@pytest.mark.parametrize(
    ("text", "theme"),
    [('theme = "light"\n', "light"), ("", "auto"), ("theme = 3\n", "auto"), ("theme = [\n", "auto")],
)
def test_the_theme_is_read_early_and_what_is_wrong_is_told_later(
    tmp_path: Path, text: str, theme: str
) -> None:
    place = tmp_path / "tori"
    place.mkdir()
    (place / "config.toml").write_text(text)
    assert configured_theme(str(tmp_path), "") == theme
    assert configured_theme("", str(tmp_path)) == "auto"


# ── history ──


def test_what_was_typed_comes_back_in_order_and_is_private(tmp_path: Path) -> None:
    history = History(tmp_path / "state" / "history.jsonl", "/p")
    for text in ("one", "two\nlines", "三"):
        history.add(text)
    assert history.load() == ("one", "two\nlines", "三")
    assert stat.S_IMODE((tmp_path / "state" / "history.jsonl").stat().st_mode) == 0o600


def test_each_project_has_its_own_and_what_an_earlier_tori_wrote_is_of_all(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('"old"\n')
    here, there = History(path, "/here"), History(path, "/there")
    here.add("one")
    there.add("two")
    assert (here.load(), there.load()) == (("old", "one"), ("old", "two"))


def test_a_broken_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n{"no": 1}\n\xff\xfe\n"two"\n"cut')
    assert History(path, "/p").load() == ("one", "two")


def test_the_history_does_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    line = json.dumps("x" * 9_000) + "\n"
    path.write_text(line * (FILE_LIMIT_BYTES // len(line) + 2))
    history = History(path, "/p")
    history.add("newest")
    assert path.stat().st_size < FILE_LIMIT_BYTES
    assert history.load()[-1] == "newest"
    assert len(history.load()) <= ENTRIES_LIMIT


def test_without_a_place_the_history_is_silent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "history.jsonl", "/p")
    history.add("one")
    assert history.load() == ()


# ── the terminal before the app ──


class Terminal:
    """A pseudo-terminal in the place of this process's own, for the time of a test."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self._saved = [os.dup(0), os.dup(2)]
        os.dup2(self.slave, 0)
        os.dup2(self.slave, 2)

    def close(self) -> None:
        for saved, number in zip(self._saved, (0, 2), strict=True):
            os.dup2(saved, number)
            os.close(saved)
        os.close(self.master)
        os.close(self.slave)


ANSWERED = b"\x1b[?62;22c"


@pytest.mark.parametrize(
    ("answer", "is_dark", "typed"),
    [
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + ANSWERED, False, b""),
        (b"\x1b]11;rgb:1414/1717/1c1c\x07" + ANSWERED, True, b""),
        (b"hel\x1b]11;rgb:ff/ff/ff\x1b\\lo" + ANSWERED + b"\r", False, b"hello\r"),
        (ANSWERED, True, b""),
        (b"early", True, b"early"),
    ],
)
def test_the_background_is_asked_for_and_what_was_typed_is_kept(
    answer: bytes, is_dark: bool, typed: bytes
) -> None:
    terminal = Terminal()
    try:
        before = termios.tcgetattr(terminal.slave)
        with EarlyTerminal({"TERM": "xterm"}) as early:
            assert os.read(terminal.master, 100).startswith(ASK_BACKGROUND)
            assert not termios.tcgetattr(terminal.slave)[3] & termios.ECHO
            os.write(terminal.master, answer)
            assert early.has_dark_background() is is_dark
            assert early.take_input() == typed
        assert termios.tcgetattr(terminal.slave) == before
    finally:
        terminal.close()


def test_an_answer_that_nobody_read_is_not_left_to_the_shell() -> None:
    terminal = Terminal()
    try:
        with EarlyTerminal({"TERM": "xterm"}):
            os.write(terminal.master, ANSWERED)
        tty.setraw(terminal.slave, termios.TCSANOW)  # as a shell's line editor does
        assert select.select([terminal.slave], [], [], 0)[0] == []
    finally:
        terminal.close()


@pytest.mark.parametrize(("index", "is_dark"), [("0;15", False), ("15;0", True), ("", True), ("0;7", False)])
def test_where_nothing_is_asked_the_environment_says_it(index: str, is_dark: bool) -> None:
    assert EarlyTerminal({"TERM": "linux", "COLORFGBG": index}).has_dark_background() is is_dark
