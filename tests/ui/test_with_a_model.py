from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.ui.pty_app import READY, PtyApp, app_in_pty
from tests.wire.answers import WireCall, WireReply, in_order
from tests.wire.server import WireServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

ESCAPE = b"\x1b"

GUARD_S = 0.6
"""Longer than the time in which keys approve nothing."""

SLOW = WireReply("Word by word it goes on. " * 120, piece_delay_s=0.03)


def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "app.py").write_text("def add(a, b):\n    return a - b\n")
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    return place


EDIT = WireCall("edit_file", {"path": "app.py", "old": "a - b", "new": "a + b"})


async def play(server: WireServer, place: Path, size: tuple[int, int], steps: object) -> None:
    environ = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none", "COLORTERM": "truecolor"}

    def run() -> None:
        with app_in_pty(("--model", "openai-chat/wire-model"), cwd=place, environ=environ, size=size) as app:
            app.wait_for(READY)
            app.read(0.5)
            assert callable(steps)
            steps(app)

    await asyncio.to_thread(run)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_whole_session(tmp_path: Path, size: tuple[int, int]) -> None:
    place = project(tmp_path)
    script = in_order(
        WireReply("I read it first.", (WireCall("read_file", {"path": "app.py"}),)),
        WireReply("A minus is wrong.", (EDIT,)),
        WireReply("Now I clean up.", (WireCall("bash", {"command": "rm -rf everything"}),)),
        SLOW,
        WireReply("Then I leave it."),
        WireReply("Resumed and done."),
    )

    def steps(app: PtyApp) -> None:
        app.send(b"mend add\r")
        app.wait_for("Allow")
        app.wait_for("a + b")
        assert "a - b" in (place / "app.py").read_text()
        app.read(GUARD_S)
        app.send(b"y")
        app.wait_for("everything")
        assert "a + b" in (place / "app.py").read_text()
        app.read(GUARD_S)
        app.send(b"n")
        app.read(0.3)
        app.send(b"too dangerous\r")
        app.wait_for("Word by word")
        app.send(b"mind the tests\r")
        app.wait_for("mind the tests")
        app.read(0.3)
        app.send(ESCAPE)
        app.wait_for("interrupted")
        app.send(b"\x11")
        assert app.wait() == 0
        assert "Go on with it: " in app.text

    async with WireServer(script) as server:
        await play(server, place, size, steps)
        results = server.requests[3].results
    assert any("too dangerous" in result for result in results)


async def test_a_resumed_session_shows_what_was_said(tmp_path: Path) -> None:
    place = project(tmp_path)
    script = in_order(WireReply("The answer is forty-two."), WireReply("Still forty-two."))

    def first(app: PtyApp) -> None:
        app.send(b"what is it\r")
        app.wait_for("forty-two")
        app.wait_for("✓ done")
        app.send(b"\x11")
        assert app.wait() == 0

    async with WireServer(script) as server:
        await play(server, place, (120, 40), first)
        environ = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}

        def second() -> None:
            with app_in_pty(("resume",), cwd=place, environ=environ) as app:
                app.wait_for("The answer is forty-two.")
                app.read(0.5)
                app.send(b"again\r")
                app.wait_for("Still forty-two.")
                app.send(b"\x11")
                assert app.wait() == 0

        await asyncio.to_thread(second)
    assert len(server.requests) == 2


async def test_a_replay_shows_what_the_live_session_showed(tmp_path: Path) -> None:
    place = project(tmp_path)
    script = in_order(
        WireReply("I look.", (WireCall("glob_files", {"pattern": "*.py"}),)),
        WireReply("There is app.py, and the ear of the elephant."),
    )
    live: list[str] = []

    def steps(app: PtyApp) -> None:
        app.send(b"what is here\r")
        app.wait_for("elephant")
        app.wait_for("✓ done")
        live.append(app.text)
        app.send(b"\x11")
        app.wait()

    async with WireServer(script) as server:
        await play(server, place, (120, 40), steps)

    def replay() -> None:
        with app_in_pty(("replay",), cwd=place) as app:
            for text in ("what is here", "glob_files *.py", "the ear of the elephant", "✓ done"):
                app.wait_for(text)
                assert text in live[0]
            app.send(b"\x11")
            assert app.wait() == 0

    await asyncio.to_thread(replay)
