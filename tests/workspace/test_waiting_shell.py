from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.processes_kit import CALL, Shell, marked_pids
from tori_tui.workspace.waiting_shell import (
    ARGUMENT_LIMIT_BYTES,
    CommandNotStarted,
    ShellTerms,
    WaitingShell,
    command_bytes,
    start_waiting_shell,
)

ENV = {"PATH": os.environ["PATH"]}


def printed(words: str, folder: Path) -> bytes:
    """What `printf` prints of the words that a command holds."""
    path = folder / "printed"
    with path.open("w+b") as output:
        shell = start_waiting_shell(ShellTerms(folder, ENV), "marker", output.fileno())
        command = f"printf %s {shlex.quote(words)}"
        asyncio.run(shell.let_run("bash", command_bytes(command), "marker"))
        shell.close()
        assert shell.process.wait(10) == 0
        return path.read_bytes()


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_a_shell_gets_any_text_as_it_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assert printed(text, tmp_path_factory.getbasetemp()) == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "".join(map(chr, range(1, 0x180))),
        "'" * 2_000,
        "a'b\"c\\d$e`f!g\r\nh\n\n\n",
        "字" * 20_000,
        "x" * (ARGUMENT_LIMIT_BYTES - 100),
        "\udc80\udcff'\udc81",
    ],
    ids=["all below U+0180", "quotes", "signs", "Chinese", "the longest", "no UTF-8"],
)
def test_hard_texts_come_through(tmp_path: Path, text: str) -> None:
    assert printed(text, tmp_path) == text.encode("utf-8", "surrogateescape")


async def test_the_longest_command_that_the_system_takes_runs(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    longest = "echo ran #" + "x" * (ARGUMENT_LIMIT_BYTES - 11)
    result = await shell.run(longest)
    assert (shell.text, result.exit_code) == ("ran\n", 0)
    with pytest.raises(CommandNotStarted, match="128 KiB"):
        await shell.run(longest + "x")


def test_half_a_text_runs_nothing(tmp_path: Path) -> None:
    """As when tori is killed while it writes."""
    with (tmp_path / "output").open("wb") as output:
        shell = start_waiting_shell(ShellTerms(tmp_path, ENV), "marker", output.fileno())
        os.write(shell.pipe, b"export TORI_CALL=marker; exec bash -c -- 'touch ran\ntouch also")
        shell.close()
        assert shell.process.wait(10) != 0
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "also").exists()


async def test_a_stopped_shell_that_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    shell = Shell(tmp_path)

    def stop_it() -> None:
        os.kill(shell.started[0].pgid, signal.SIGSTOP)
        time.sleep(0.05)

    running = asyncio.create_task(shell.run("touch ran; #" + "x" * 100_000, on_started=stop_it))
    await asyncio.sleep(0.3)
    assert not running.done()
    running.cancel()
    await asyncio.wait({running}, timeout=10)
    assert running.cancelled()
    assert not (tmp_path / "ran").exists()
    assert marked_pids(CALL) == []


@pytest.mark.parametrize("n_steps", [*range(10), 20, 100])
async def test_one_that_is_cancelled_at_any_step_leaves_no_handle(tmp_path: Path, n_steps: int) -> None:
    shell = Shell(tmp_path)
    await shell.run("true")
    n_handles = len(os.listdir("/proc/self/fd"))
    running = asyncio.create_task(shell.run("sleep 60 #" + "x" * 100_000))
    for _ in range(n_steps):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait({running}, timeout=10)
    assert running.cancelled()
    assert len(os.listdir("/proc/self/fd")) == n_handles
    assert marked_pids(CALL) == []


async def test_one_that_ended_before_is_told_by_its_end(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        shell = start_waiting_shell(ShellTerms(tmp_path, ENV), "marker", output.fileno())
    shell.process.kill()
    shell.process.wait()
    await shell.let_run("bash", b"touch ran", "marker")
    await shell.let_run("bash", b"touch ran" + b" " * 10_000, "marker")
    shell.close()
    shell.close()
    assert shell.process.returncode == -signal.SIGKILL


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output, pytest.raises(CommandNotStarted, match="is gone"):
        start_waiting_shell(ShellTerms(tmp_path / "gone", ENV), "marker", output.fileno())


def test_a_shell_that_waits_is_a_process_of_its_own(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        shell: WaitingShell = start_waiting_shell(ShellTerms(tmp_path, ENV), "marker", output.fileno())
    try:
        assert os.getsid(shell.process.pid) == shell.process.pid
        time.sleep(0.1)
        assert shell.process.poll() is None
    finally:
        shell.close()
        assert shell.process.wait(5) == 0
