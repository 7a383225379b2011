from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.branches.kit import READ, Cast, explores, repository, until
from tests.cli.kit import Project, calls, says
from tests.fakes.processes import pids_of
from tests.fakes.provider import ScriptedReply
from tests.fakes.session import driven, reply, scripted
from tests.faults.tools_kit import shell_in
from tests.ui.pty_app import READY, app_in_pty
from tori_tui.domain.commands import InterruptRun, StopBranch, SubmitPrompt
from tori_tui.domain.events import ToolRunStarted
from tori_tui.domain.ids import BranchId
from tori_tui.domain.messages import JsonObject
from tori_tui.trace.store import JsonlTraceStore

PROMPT_S = 2.0
"""Within this a command that has nothing more to do must be back, also on a busy machine."""

SLOW = replace(READ, delay_s=0.5)


async def timed(shell_folder: Path, command: str, **more: object) -> tuple[str, float]:
    async with shell_in(shell_folder) as shell:
        begun = time.monotonic()
        output = await shell.run(command, **more)
        return output.text, time.monotonic() - begun


@pytest.mark.parametrize(
    "command",
    [
        "sleep 30 & echo hi",
        "sleep 30 </dev/null >/dev/null & echo hi",
        "setsid sleep 30 & echo hi",
    ],
)
async def test_who_holds_an_output_silently_holds_up_no_call(tmp_path: Path, command: str) -> None:
    text, duration_s = await timed(tmp_path, command)
    assert text.startswith("hi\n[exit 0]")
    assert duration_s < PROMPT_S


async def test_a_grandchild_that_keeps_the_output_open_delays_nothing(tmp_path: Path) -> None:
    # What is left running is stopped at the end of its command and told, so that no reader waits for it.
    text, duration_s = await timed(tmp_path, "echo child-done; (sleep 30) &")
    assert text.startswith("child-done\n[exit 0]\n[stopped, because")
    assert duration_s < PROMPT_S


async def test_no_process_of_a_branch_outlives_its_time_limit_its_stop_or_the_session(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path / "work", {"a.txt": "one\n"})
    sleeps = {
        name: f"(setsid sleep {n}.375 &) ; sleep {n}.625" for n, name in ((96, "late"), (97, "stopped"))
    }
    limited = scripted("bash", {"command": sleeps["late"], "timeout_s": 1})
    stopped = scripted("bash", {"command": sleeps["stopped"]})
    quitting = scripted("bash", {"command": "(setsid sleep 98.375 &) ; sleep 98.625"})
    cast = Cast(
        [explores("late", "stopped", "quitting", mode="implement")],
        {
            "late": [ScriptedReply("", (limited,)), reply("Late.")],
            "stopped": [ScriptedReply("", (stopped,)), reply("never")],
            "quitting": [ScriptedReply("", (quitting,)), reply("never")],
        },
    )
    async with driven(cast, root) as driver:
        driver.session.send(SubmitPrompt("explore"))
        await until(lambda: bool(pids_of("97.625") and pids_of("96.625") and pids_of("98.625")))
        await until(lambda: driver.session.state.branches[BranchId("1")].end is not None)
        assert pids_of("96.375") + pids_of("96.625") == []
        driver.session.send(StopBranch(BranchId("2")))
        await until(lambda: driver.session.state.branches[BranchId("2")].end is not None)
        assert pids_of("97.375") + pids_of("97.625") == []
        assert pids_of("98.625") != []
    assert pids_of("98.375") + pids_of("98.625") == []


async def test_what_ignores_the_request_to_stop_is_killed_after_a_grace(tmp_path: Path) -> None:
    command = "bash -c 'trap \"\" TERM; sleep 60; sleep 61'"
    text, duration_s = await timed(tmp_path, command, timeout_s=1)
    assert "[timed out after 1 s" in text
    assert duration_s < 6


async def test_what_was_printed_before_the_time_limit_is_kept_and_is_no_success(tmp_path: Path) -> None:
    async with shell_in(tmp_path) as shell:
        output = await shell.run("echo before; sleep 30", timeout_s=1)
    assert output.text.startswith("before\n[timed out after 1 s")
    assert output.is_error
    assert output.details["exit_code"] is None
    assert "[exit 0]" not in output.text


def test_a_command_cannot_draw_over_the_app_or_read_its_keys(tmp_path: Path) -> None:
    project = Project.make(tmp_path, calls("bash", '{"command": "sh draw.sh"}') + says("All is well."))
    (project.root / "draw.sh").write_text("printf 'PW%s' NED >/dev/tty\nread x </dev/tty\necho over\n")
    arguments = ("--model", project.environ["TORI_MODEL"], "--mode", "auto")
    with app_in_pty(arguments, cwd=project.root) as app:
        app.wait_for(READY)
        app.send(b"go\r")
        app.wait_for("All is well.")
        app.send(b"typed after")
        app.wait_for("typed after")
        assert b"PWNED" not in app.raw
    with JsonlTraceStore.open(project.traces[0], read_only=True) as store:
        told = "\n".join(str(record.event) for record in store.records())
    assert "No such device" in told
    assert "over\\n[exit 0]" in told


@pytest.mark.parametrize(
    "command",
    ["bash -i", "python3 -c \"input('name? ')\"", "read -p 'name? ' name", "cat", "git commit --interactive"],
)
async def test_a_program_that_asks_gets_the_end_of_its_input_at_once(tmp_path: Path, command: str) -> None:
    async with shell_in(tmp_path) as shell:
        begun = time.monotonic()
        output = await shell.run(command)
        assert time.monotonic() - begun < PROMPT_S
        assert "[exit" in output.text
        assert "No terminal, no input." in shell.tool.spec.description


async def test_a_background_job_has_no_input_either_and_is_told_as_ended(tmp_path: Path) -> None:
    async with shell_in(tmp_path) as shell:
        await shell.run("cat; echo end", background=True)
        assert (await shell.read(job_id="b1", wait_s=5)).text == "end\n[b1 exit 0]"
        assert "b1" in (await shell.read()).text


async def test_many_small_writes_are_as_fast_as_in_a_plain_shell_and_take_no_memory(tmp_path: Path) -> None:
    command = "for i in $(seq 300000); do echo line $i; done"
    begun = time.monotonic()
    with (tmp_path / "plain").open("wb") as file:
        subprocess.run(["bash", "-c", command], stdout=file, check=True)
    plain_s = time.monotonic() - begun
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text, duration_s = await timed(tmp_path, command)
    assert "line 300000\n" in text
    assert len(text) < 60_000
    assert duration_s < 3 * plain_s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 40_000


async def test_bytes_that_are_no_text_break_neither_the_result_nor_the_trace(tmp_path: Path) -> None:
    commands = {
        r"printf '\xf0'": "\N{REPLACEMENT CHARACTER}\n[exit 0]",
        r"printf '\xe4'; sleep 1; printf '\xb8\xad'": "中\n[exit 0]",
        "head -c 200 /dev/urandom | tee kept": "",
        r"printf 'a\0b'": "",
    }
    async with shell_in(tmp_path) as shell:
        texts = [(await shell.run(command)).text for command in commands]
        live = "".join(shell.scope.shown)
    for text, expected in zip(texts, commands.values(), strict=True):
        assert json.loads(json.dumps(text)) == text
        assert text.encode().decode() == text
        assert "\0" not in text
        assert text == (expected or text)
    assert "中" in live
    root = tmp_path / "kept"
    root.mkdir()
    turns = [reply("", bash={"command": r"printf 'a\0\xf0b'; head -c 200 /dev/urandom"}), reply("done")]
    async with driven(turns, root) as driver:
        assert (await driver.run("go")).status == "done"


@pytest.mark.parametrize("piece_bytes", [1, 5])
async def test_no_character_is_lost_where_the_output_was_cut(tmp_path: Path, piece_bytes: int) -> None:
    text = "añ中😀é" * 12
    program = textwrap.dedent(f"""
        import os, time
        data = {text!r}.encode()
        for at in range(0, len(data), {piece_bytes}):
            os.write(1, data[at : at + {piece_bytes}])
            time.sleep(0.002)
    """)
    async with shell_in(tmp_path) as shell:
        (shell.root / "p.py").write_text(program)
        output = await shell.run("python3 p.py")
        latin = await shell.run("PYTHONIOENCODING=latin-1 python3 -c \"print('aéb')\"")
        assert "".join(shell.scope.shown).startswith(text)
    assert output.text == f"{text}\n[exit 0]"
    # The bytes do not say their encoding: UTF-8 is what a terminal takes, all else is shown as unknown.
    assert latin.text == "a\N{REPLACEMENT CHARACTER}b\n[exit 0]"


async def test_every_command_starts_in_the_same_folder_and_the_model_knows(tmp_path: Path) -> None:
    async with shell_in(tmp_path) as shell:
        (shell.root / "sub").mkdir()
        # Not persistent: where a command runs can then be read from the command alone, also by the policy.
        moved = await shell.run("cd sub && pwd")
        after = await shell.run("pwd")
        assert moved.text.startswith(f"{shell.root}/sub\n[exit 0]")
        assert f"[the next command starts in {shell.root} again]" in moved.text
        assert after.text == f"{shell.root}\n[exit 0]"
        assert after.details["cwd"] == str(shell.root)
        assert "cd does not persist" in shell.tool.spec.description


async def test_exit_1_of_a_search_or_comparison_is_a_plain_answer(tmp_path: Path) -> None:
    async with shell_in(tmp_path) as shell:
        (shell.root / "README.md").write_text("nothing here\n")
        (shell.root / "a").write_text("1\n")
        (shell.root / "b").write_text("2\n")
        nothing = await shell.run("grep xyznone README.md")
        differs = await shell.run("diff a b")
    assert (nothing.text, nothing.is_error) == ("(no output)\n[exit 1]", False)
    assert (differs.text, differs.is_error) == ("1c1\n< 1\n---\n> 2\n[exit 1]", False)
    assert differs.details["exit_code"] == 1


async def test_an_interrupt_ends_the_command_within_a_second_and_the_session_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    command: JsonObject = {"command": "sleep 94.375 & sleep 94.625"}
    async with driven([reply("", bash=command), reply("fine")], root) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        await until(lambda: bool(pids_of("94.625")))
        begun = time.monotonic()
        state = await driver.run(InterruptRun())
        assert time.monotonic() - begun < 1
        assert pids_of("94.375") + pids_of("94.625") == []
        assert state.status == "interrupted"
        assert (await driver.run("next")).status == "done"
        results = [e.message.text for e in driver.session.state.log if e.message.role == "tool"]
    assert len(results) == 1
    assert results[0].startswith("Interrupted")


@pytest.mark.needs("unshare")
async def test_on_a_full_disk_commands_still_run_and_tell_what_is_full(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from tests.faults.tools_kit import shell_in

        async def main() -> None:
            async with shell_in(Path(sys.argv[1])) as shell:
                Path(sys.argv[1], "filler").write_bytes(b"x" * 20_000)
                try:
                    with open(Path(sys.argv[1], "more"), "wb", 0) as file:
                        while file.write(b"x" * 4096): pass
                except OSError as error:
                    print(error.strerror)
                print((await shell.run("df -h $TMPDIR; echo ok")).text)

        asyncio.run(main())
    """)
    small = tmp_path / "small"
    small.mkdir()
    script = f'mount -t tmpfs -o size=64k none "{small}" && exec "$0" -c "$1" "{small}"'
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, sys.executable, program),
        env={**os.environ, "TMPDIR": str(small)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert "No space left on device" in out.decode()
    assert "100%" in out.decode()
    assert "ok\n[exit 0]" in out.decode()
