from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.pty_app import READY, PtyApp, app_in_pty

MODEL = ("--model", "openai-chat/none")

pytestmark = pytest.mark.slow


@pytest.fixture
def app(tmp_path: Path) -> Iterator[PtyApp]:
    with app_in_pty(MODEL, cwd=tmp_path) as running:
        running.wait_for(READY)
        running.read(0.3)
        yield running


def assert_restored(app: PtyApp) -> None:
    assert app.has_echo()
    assert app.raw.rindex(b"\x1b[?1049l") > app.raw.rindex(b"\x1b[?1049h")
    assert b"\x1b[?25h" in app.raw
    assert b"\x1b[?1003l" in app.raw
    assert b"\x1b[?2004l" in app.raw


def test_typed_before_anything_is_shown_is_not_lost(tmp_path: Path) -> None:
    with app_in_pty(MODEL, cwd=tmp_path) as app:
        app.send(b"typed early")
        app.wait_for("typed early")


def test_ctrl_q_gives_the_terminal_back(app: PtyApp) -> None:
    app.send(b"\x11")
    assert app.wait() == 0
    assert_restored(app)


def test_without_a_model_the_first_steps_are_shown_and_escape_leaves_nothing_behind(tmp_path: Path) -> None:
    without = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": "", "HOME": str(tmp_path)}
    with app_in_pty((), cwd=tmp_path, environ=without) as app:
        app.wait_for("Welcome to tori")
        app.wait_for("Watch the demo")
        app.read(0.3)
        app.send(b"\x1b")
        assert app.wait() == 0
        assert_restored(app)
    assert not (tmp_path / ".trace").exists()


def test_ctrl_c_twice_quits(app: PtyApp) -> None:
    app.send(b"\x03")
    app.wait_for("again quits")
    app.send(b"\x03")
    assert app.wait() == 0
    assert_restored(app)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_gives_the_terminal_back(app: PtyApp, number: signal.Signals, code: int) -> None:
    app.signal(number)
    assert app.wait() == code
    assert_restored(app)


def test_it_ends_when_the_terminal_goes_away(tmp_path: Path) -> None:
    with app_in_pty(MODEL, cwd=tmp_path) as app:
        app.wait_for(READY)
        keep = os.open(os.devnull, os.O_RDWR)
        os.dup2(keep, app.master)
        end = time.monotonic() + 15
        while app.code is None and time.monotonic() < end:
            pid, status = os.waitpid(app.pid, os.WNOHANG)
            app.code = os.waitstatus_to_exitcode(status) if pid else None
            time.sleep(0.05)
        os.close(keep)
        assert app.code is not None


def test_ctrl_z_stops_and_fg_draws_anew(app: PtyApp) -> None:
    app.send(b"draft")
    app.wait_for("draft")
    app.send(b"\x1a")
    end = time.monotonic() + 10
    while app.state() != "T" and time.monotonic() < end:
        app.read(0.05)
    assert app.state() == "T"
    assert app.has_echo()
    app.forget()
    app.signal(signal.SIGCONT)
    app.wait_for("draft")
    app.send(b"\x11")
    assert app.wait() == 0
    assert_restored(app)


@pytest.mark.parametrize(
    "rubbish", [b"\x1b[M\x20\x80\x81", b"\xff\xfe", b"\x80" * 100, b"\x1b[<999;1M", b"\x00"]
)
def test_no_byte_kills_the_input(app: PtyApp, rubbish: bytes) -> None:
    app.send(rubbish)
    app.read(0.3)
    app.send(b"alive")
    app.wait_for("alive", 10)


def test_a_character_that_comes_in_two_pieces_arrives(app: PtyApp) -> None:
    app.send(b"\xe4\xb8")
    app.read(1.0)
    app.send(b"\xad")
    app.wait_for("中", 10)


@pytest.mark.parametrize("newline", [b"\x1b[13;2u", b"\x1b[27;2;13~", b"\x1b\r", b"\n", b"\\\r"])
def test_every_way_to_a_line_break(app: PtyApp, newline: bytes) -> None:
    app.send(b"one")
    app.wait_for("one")
    app.send(newline)
    app.read(0.4)
    app.send(b"two")
    app.wait_for("two", 10)
    assert READY not in app.text[app.text.rindex("one") :]


def test_a_resize_storm_leaves_it_alive(app: PtyApp) -> None:
    for step in range(60):
        app.resize(20 + step * 3 % 140, 5 + step % 45)
        app.read(0.01)
    app.resize(120, 40)
    app.read(0.5)
    app.forget()
    app.send(b"alive")
    app.wait_for("alive", 15)


def test_a_light_background_gives_the_light_theme(tmp_path: Path) -> None:
    with app_in_pty(MODEL, cwd=tmp_path, environ={"COLORTERM": "truecolor"}) as app:
        while b"\x1b]11;?" not in app.raw:
            app.read(0.05)
        app.send(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c")
        app.wait_for(READY)
        assert b"48;2;251;250;247" in app.raw


def test_no_color_draws_without_a_colour(tmp_path: Path) -> None:
    with app_in_pty(MODEL, cwd=tmp_path, environ={"NO_COLOR": "1"}) as app:
        app.wait_for(READY)
        assert b"\x1b[38;5;111" not in app.raw


def test_a_dumb_terminal_gets_a_clear_word(tmp_path: Path) -> None:
    with app_in_pty(MODEL, cwd=tmp_path, environ={"TERM": "dumb"}) as app:
        assert app.wait() == 2
        assert "TERM=dumb" in app.text


def test_a_wrong_theme_is_named_with_the_nearest(tmp_path: Path) -> None:
    config = tmp_path / "config" / "tori"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('theme = "drak"\n')
    with app_in_pty(MODEL, cwd=tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path / "config")}) as app:
        assert app.wait() == 2
        assert "did you mean 'dark'" in app.text
