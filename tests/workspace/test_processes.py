from __future__ import annotations

import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workspace.processes_kit import CALL, Shell, eventually, marked_pids, sleepers
from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.process_table import children_of, read_facts
from tori_tui.workspace.stopping import kill_left_over
from tori_tui.workspace.waiting_shell import CommandNotStarted


def plain_duration_s(command: str, path: Path) -> float:
    began = time.perf_counter()
    with path.open("wb") as file:
        subprocess.run(["bash", "-c", command], stdout=file, check=True)
    return time.perf_counter() - began


def printed_by(program: str) -> bytes:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).stdout


def zombies() -> set[int]:
    return {pid for pid in children_of(os.getpid()) if (facts := read_facts(pid)) and facts.has_ended}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


async def test_output_and_exit_code_come_back(shell: Shell) -> None:
    result = await shell.run("echo out; echo err >&2; exit 3")
    assert (result.end, result.exit_code, result.signal, result.stopped) == ("exited", 3, "", ())
    assert shell.text == "out\nerr\n"
    assert result.output_bytes == 8


async def test_a_command_that_a_signal_ends_says_which(shell: Shell) -> None:
    result = await shell.run("kill -9 $$")
    assert (result.exit_code, result.signal) == (137, "SIGKILL")


async def test_nothing_runs_before_the_start_is_written_down(shell: Shell) -> None:
    witness = shell.folder / "ran"
    seen: list[bool] = []
    await shell.run(f"touch {witness}", on_started=lambda: seen.append(witness.exists()))
    assert seen == [False]
    assert witness.exists()


async def test_a_command_whose_start_cannot_be_written_down_never_runs(shell: Shell) -> None:
    def disk_is_full() -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        await shell.run(f"touch {shell.folder}/ran", on_started=disk_is_full)
    assert not (shell.folder / "ran").exists()
    assert marked_pids(CALL) == []


def test_a_command_never_runs_if_tori_is_killed_before_the_gate_opens(tmp_path: Path) -> None:
    program = f"""
import asyncio, os, signal
from pathlib import Path
from tests.workspace.processes_kit import Shell
def die():
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(Shell(Path({str(tmp_path)!r})).run("touch ran", call_id={CALL!r}, on_started=die))
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    time.sleep(0.2)
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "ran").exists()
    assert marked_pids(CALL) == []


async def test_the_process_is_told_by_group_and_start_time(shell: Shell) -> None:
    await shell.run("echo $$; cut -d' ' -f5,6,22 /proc/$$/stat")
    pid, told = shell.text.splitlines()
    ref = shell.started[0]
    assert told.split() == [pid, pid, str(ref.start_ticks)]
    assert int(pid) == ref.pgid


@pytest.mark.parametrize(
    "command",
    [
        "sleep 30 & echo hi",
        "sleep 30 </dev/null >/dev/null & echo hi",
        "setsid sleep 300 & echo hi",
        "(setsid sleep 300 >/dev/null 2>&1 &) ; echo hi",
        "env -i setsid sleep 300 & echo hi",
        "(env -i setsid sh -c 'sleep 300; true' &) ; echo hi",
        "echo hi; (sleep 30) &",
        "nohup sleep 30 & echo hi",
        "sleep 30 & sleep 0.1; kill -STOP $! ; echo hi",
    ],
)
async def test_what_a_command_leaves_behind_is_stopped_and_told(shell: Shell, command: str) -> None:
    own = f".{os.getpid()}"
    began = time.monotonic()
    result = await shell.run(re.sub(r"(?<=sleep )(30|300)\b", rf"\1{own}", command))
    assert time.monotonic() - began < 2
    assert shell.text.replace("nohup: ignoring input\n", "") == "hi\n"
    assert result.exit_code == 0
    assert "sleep" in result.stopped
    assert sleepers(f"300{own}") == sleepers(f"30{own}") == []


async def test_what_ends_by_itself_at_once_is_not_called_left_behind(shell: Shell) -> None:
    result = await shell.run("echo hi > >(sleep 0.03; cat)")
    assert (shell.text, result.stopped) == ("hi\n", ())


async def test_no_zombie_is_left(shell: Shell) -> None:
    before = zombies()
    await shell.run("(setsid sleep 300 >/dev/null &) ; (setsid true &) ; sleep 0.05")
    assert zombies() <= before


async def test_a_timeout_keeps_what_was_printed_before(shell: Shell) -> None:
    began = time.monotonic()
    result = await shell.run("echo before; sleep 30", timeout_s=0.3)
    assert time.monotonic() - began < 1.5
    assert (result.end, result.exit_code) == ("timed_out", None)
    assert shell.text == "before\n"
    assert marked_pids(CALL) == []


async def test_a_process_that_ignores_term_is_killed_after_the_grace(shell: Shell) -> None:
    began = time.monotonic()
    result = await shell.run("setsid bash -c 'trap \"\" TERM; sleep 60; sleep 60'; true", timeout_s=0.2)
    assert 2 < time.monotonic() - began < 3.5
    assert result.end == "timed_out"
    assert marked_pids(CALL) == []


async def test_a_command_that_prints_for_ever_is_stopped_at_its_limit(shell: Shell) -> None:
    began = time.monotonic()
    result = await shell.run("yes", limit_bytes=2_000_000)
    assert time.monotonic() - began < 2
    assert result.end == "too_much_output"
    assert result.output_bytes == 2_000_000
    assert (shell.folder / f"{CALL}.log").stat().st_size == 2_000_000
    assert marked_pids(CALL) == []


@pytest.mark.parametrize("command", ["cat; echo end", "read x; echo end", "bash -i </dev/null; echo end"])
async def test_a_command_that_reads_stdin_gets_its_end(shell: Shell, command: str) -> None:
    result = await shell.run(command, timeout_s=5)
    assert result.end == "exited"
    assert shell.text.endswith("end\n")


async def test_there_is_no_terminal_to_open(shell: Shell) -> None:
    result = await shell.run("echo PWNED >/dev/tty; read x </dev/tty", timeout_s=5)
    assert result.exit_code == 1
    assert "No such device" in shell.text
    assert "PWNED\n" not in shell.text.splitlines()


async def test_a_character_split_over_two_writes_is_shown_whole(shell: Shell) -> None:
    await shell.run(r"printf '\xe4'; sleep 0.3; printf '\xb8\xad'")
    assert "".join(shell.shown) == "中"


async def test_invalid_utf8_is_kept_and_shown_as_replacement(shell: Shell) -> None:
    await shell.run(r"printf 'a\xf0b\0c'")
    assert shell.data == b"a\xf0b\0c"
    assert "".join(shell.shown) == "a\ufffdb\0c"


async def test_live_output_comes_while_the_command_runs(shell: Shell) -> None:
    task = asyncio.create_task(shell.run("echo first; sleep 5"))
    await eventually(lambda: bool(shell.shown))
    assert shell.shown == ["first\n"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_live_output_is_bounded_and_says_what_is_left_out(shell: Shell) -> None:
    await shell.run("head -c 3000000 /dev/zero | tr '\\0' x; sleep 0.3")
    shown = "".join(shell.shown)
    assert len(shown) < 400_000
    assert "bytes left out" in shown


async def test_cancelling_kills_everything_and_leaves_no_task(shell: Shell) -> None:
    task = asyncio.create_task(shell.run("setsid sleep 300 & sleep 300", timeout_s=None))
    await eventually(lambda: len(marked_pids(CALL)) == 3)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 1
    assert marked_pids(CALL) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_twice_kills_at_once_what_ignores_term(shell: Shell) -> None:
    task = asyncio.create_task(shell.run("trap '' TERM; echo ready; sleep 300; sleep 300", timeout_s=None))
    await eventually(lambda: bool(shell.shown))
    began = time.monotonic()
    task.cancel()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 1
    assert marked_pids(CALL) == []


async def test_commands_at_the_same_time_do_not_stop_each_others_processes(shell: Shell) -> None:
    async with asyncio.TaskGroup() as group:
        long = group.create_task(shell.run("setsid sh -c 'sleep 1; echo kept' | cat", call_id="long"))
        await asyncio.sleep(0.2)
        short = await shell.run("setsid sleep 300 & echo hi", call_id="short")
    assert short.stopped == ("sleep",)
    assert long.result().stopped == ()
    assert (shell.folder / "long.log").read_text() == "kept\n"


async def test_what_starts_itself_anew_for_ever_is_caught(shell: Shell) -> None:
    (shell.folder / "again.sh").write_text("trap '' TERM\nsleep 0.01\nsetsid bash again.sh &\n")
    await shell.run("setsid bash again.sh & sleep 0.1; echo started", call_id="again")
    await asyncio.sleep(0.1)
    assert marked_pids("again") == []


async def test_what_hides_while_others_run_dies_with_the_session(shell: Shell) -> None:
    seconds = f"302.{os.getpid()}"
    async with asyncio.TaskGroup() as group:
        group.create_task(shell.run("sleep 0.5", call_id="other"))
        await asyncio.sleep(0.1)
        await shell.run(f"(env -i setsid sleep {seconds} &)", call_id="hiding")
    await Jobs(shell.descendants).close()
    assert sleepers(seconds) == []


async def test_a_command_killed_at_its_gate_never_runs(shell: Shell) -> None:
    result = await shell.run("touch ran", on_started=lambda: os.kill(shell.started[0].pgid, signal.SIGKILL))
    assert result.signal == "SIGKILL"
    assert not (shell.folder / "ran").exists()


async def test_a_command_may_begin_with_a_dash(shell: Shell) -> None:
    result = await shell.run("-x")
    assert result.exit_code == 127
    assert "-x: command not found" in shell.text


async def test_waiting_for_leftovers_takes_no_processor_time(shell: Shell) -> None:
    began_s = time.process_time()
    await shell.run("trap '' TERM; (sleep 300; sleep 300) & echo hi")
    assert time.process_time() - began_s < 0.5


async def test_programs_of_toris_own_are_left_alone(shell: Shell) -> None:
    own = await asyncio.create_subprocess_exec("sleep", "1")
    await shell.run("setsid sleep 300 & echo hi")
    assert await own.wait() == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [("echo 'a\0b'", "NUL byte"), ("echo \ud800", "lone surrogate"), ("echo " + "x" * 200_000, "128 KiB")],
)
async def test_what_the_system_refuses_is_told(shell: Shell, command: str, said: str) -> None:
    with pytest.raises(CommandNotStarted, match=said):
        await shell.run(command)
    assert shell.started == []


async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    log = tmp_path / "log"
    shell.folder = tmp_path / "gone"
    with pytest.raises(CommandNotStarted, match="gone"):
        await shell.run("true", path=log)


async def test_a_full_disk_does_not_keep_a_command_from_running(shell: Shell) -> None:
    path = Path("/dev/full/x")
    with CommandOutput.open(path) as output:
        assert output.path is None
    await shell.run("df -h . >/dev/null; echo ok", path=path)
    assert shell.text == "ok\n"


async def test_what_an_earlier_tori_left_is_killed(tmp_path: Path) -> None:
    program = f"""
import asyncio, os, signal, threading
from pathlib import Path
from tests.workspace.processes_kit import Shell
shell = Shell(Path({str(tmp_path)!r}))
def die():
    print(shell.started[0].pgid, shell.started[0].start_ticks, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Timer(0.5, die).start()
asyncio.run(shell.run("setsid sleep 300 & sleep 300", call_id="earlier", timeout_s=None))
"""
    told = printed_by(program).split()
    ref = ProcessRef(int(told[0]), int(told[1]))
    assert len(marked_pids("earlier")) == 3
    assert not await kill_left_over({ProcessRef(ref.pgid, ref.start_ticks + 1): "other"})
    assert len(marked_pids("earlier")) == 3
    gone = ProcessRef(4_194_303, ref.start_ticks - 1)
    assert await kill_left_over({gone: "gone", ref: "earlier"})
    assert marked_pids("earlier") == []
    assert not await kill_left_over({ref: "earlier"})


async def test_a_recycled_pid_is_never_killed() -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "1", start_new_session=True)
    facts = read_facts(stranger.pid)
    assert facts is not None
    for start_ticks in (facts.start_ticks - 1, facts.start_ticks + 1, 0):
        assert not await kill_left_over({ProcessRef(stranger.pid, start_ticks): "call"})
    assert await stranger.wait() == 0


async def test_300_000_lines_are_about_as_fast_as_in_a_plain_shell(shell: Shell) -> None:
    command = "for i in $(seq 300000); do echo line $i; done"
    plain_s = plain_duration_s(command, shell.folder / "plain")
    result = await shell.run(command, timeout_s=60)
    assert shell.text.endswith("line 300000\n")
    assert result.duration_s < 3 * plain_s


async def test_starting_costs_little_beyond_a_plain_fork(shell: Shell) -> None:
    await shell.run("true")
    ours, plain = [], []
    for _ in range(25):
        began = time.perf_counter()
        await shell.run("true")
        ours.append(time.perf_counter() - began)
        plain.append(plain_duration_s("true", shell.folder / "plain"))
    assert statistics.median(ours) - statistics.median(plain) < 0.015
