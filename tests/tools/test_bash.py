from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.scope import FakeScope
from tests.workspace.processes_kit import CALL, eventually, marked_pids
from tori_tui.domain.events import ProcessRef
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import COLORS
from tori_tui.permission.policy import PermissionQuestion, decide
from tori_tui.permission.redaction import Redactor
from tori_tui.tools.base import ArgumentsInvalid, ToolOutput
from tori_tui.tools.bash import Bash
from tori_tui.tools.bash_output import BashOutput
from tori_tui.tools.bash_stop import BashStop
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.waiting_shell import ShellTerms

KEY = "hunter2-hunter2"


class Session:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.root.mkdir()
        self.outputs = Outputs(folder / "outputs")
        self.jobs = Jobs(Descendants())
        self.scope = FakeScope(CallId(CALL))
        environment = {**os.environ, "OPENAI_API_KEY": KEY, "CORP_KEY_VARIABLE": KEY + "2"}
        self.bash = Bash(
            Workspace(self.root),
            self.jobs,
            self.outputs,
            base_environment=environment,
            secret_names=["CORP_KEY_VARIABLE"],
            redact=Redactor({"KEY": KEY}).redact,
        )
        self.bash_output = BashOutput(self.jobs)
        self.bash_stop = BashStop(self.jobs)

    async def run(self, command: str, **arguments: object) -> ToolOutput:
        return await self.bash.run({"command": command, **arguments}, self.scope)

    async def read(self, **arguments: object) -> ToolOutput:
        return await self.bash_output.run(arguments, self.scope)

    async def stop(self, job_id: str) -> ToolOutput:
        return await self.bash_stop.run({"job_id": job_id}, self.scope)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    session = Session(tmp_path)
    yield session
    await session.jobs.close()
    assert marked_pids(CALL) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_output_and_the_exit_code_are_told(session: Session) -> None:
    output = await session.run("echo hi")
    assert (output.text, output.is_error, output.full) == ("hi\n[exit 0]", False, None)
    assert output.details["exit_code"] == 0
    assert output.details["timed_out"] is False
    assert output.details["cwd"] == str(session.root)


@pytest.mark.parametrize("command", ["grep none /dev/null", "diff /dev/null /proc/self/stat", "false"])
async def test_exit_1_is_no_failure_of_the_call(session: Session, command: str) -> None:
    output = await session.run(command)
    assert not output.is_error
    assert output.text.endswith("[exit 1]")


async def test_silence_is_said(session: Session) -> None:
    assert (await session.run("true")).text == "(no output)\n[exit 0]"


async def test_an_unfinished_last_line_is_kept_apart_from_the_exit_code(session: Session) -> None:
    assert (await session.run("printf hi")).text == "hi\n[exit 0]"


async def test_the_start_is_written_down_with_process_and_output(session: Session) -> None:
    seen: list[bool] = []
    session.scope.on_started = lambda: seen.append((session.root / "ran").exists())
    await session.run("touch ran")
    assert seen == [False]
    assert len(session.scope.processes) == 1
    assert session.outputs.path(session.scope.outputs[0]).exists()


async def test_a_timeout_keeps_the_output_and_is_an_error(session: Session) -> None:
    output = await session.run("echo before; sleep 30", timeout_s=1)
    assert output.is_error
    assert output.text.startswith("before\n[timed out after 1 s")
    assert output.details["timed_out"] is True
    assert output.details["exit_code"] is None


async def test_a_killed_command_is_an_error(session: Session) -> None:
    output = await session.run("kill -9 $$")
    assert output.is_error
    assert output.text.endswith("[killed by SIGKILL]")


async def test_a_command_that_cannot_start_is_an_error_and_leaves_no_file(session: Session) -> None:
    output = await session.run("echo '\0'")
    assert output.is_error
    assert "NUL" in output.text
    assert session.scope.processes == []
    assert list(session.outputs.directory.iterdir()) == []


async def test_an_empty_command_runs_nothing(session: Session) -> None:
    assert (await session.run("  ")).is_error
    assert session.scope.processes == []


async def test_what_was_left_running_is_stopped_and_told(session: Session) -> None:
    began = time.monotonic()
    output = await session.run("sleep 30 & echo hi")
    assert time.monotonic() - began < 2
    assert output.text.startswith("hi\n[exit 0]\n[stopped, because")
    assert "sleep" in output.text
    assert "background" in output.text


async def test_cd_does_not_persist_and_says_so(session: Session) -> None:
    (session.root / "sub").mkdir()
    output = await session.run("cd sub && pwd")
    assert output.text.startswith(f"{session.root}/sub\n")
    assert f"starts in {session.root} again" in output.text
    assert (await session.run("pwd")).text == f"{session.root}\n[exit 0]"


async def test_long_output_is_cut_at_line_ends_and_kept_whole(session: Session) -> None:
    output = await session.run("seq 20000")
    whole = "".join(f"{n}\n" for n in range(1, 20_001))
    head, _, rest = output.text.partition("[… ")
    note, _, tail = rest.partition("]\n")
    tail = tail.removesuffix("[exit 0]")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert 2_000 < len(head) <= 2_400
    assert 5_000 < len(tail) <= 5_600
    assert head.endswith("\n")
    assert output.full is not None
    assert (
        note
        == f"{len(whole) - len(head) - len(tail):,} bytes left out; the whole is in outputs/{output.full}"
    )
    assert session.outputs.path(output.full).read_text() == whole


async def test_one_long_line_does_not_flood(session: Session) -> None:
    output = await session.run("head -c 3000000 /dev/zero | tr '\\0' 'x'")
    assert len(output.text) < 8_300
    assert "2,992,000 bytes left out" in output.text


async def test_a_cut_inside_a_line_breaks_no_character(session: Session) -> None:
    output = await session.run("for i in $(seq 5000); do printf 中; done")
    assert "\ufffd" not in output.text


async def test_control_codes_and_progress_bars_leave_their_last_state(session: Session) -> None:
    output = await session.run(r"printf '\033[31mred\033[0m\n\033]0;title\007x\n10%%\r50%%\r100%%\ndone\r\n'")
    assert output.text == "red\nx\n100%\ndone\n[exit 0]"


async def test_a_long_progress_bar_is_not_cut(session: Session) -> None:
    output = await session.run("for i in $(seq 3000); do printf 'step %d of 3000\\r' $i; done; echo")
    assert output.text == "step 3000 of 3000\n[exit 0]"
    assert output.full is None


async def test_invalid_utf8_and_nul_do_not_break_the_result(session: Session) -> None:
    output = await session.run(r"printf 'a\xf0b\0c\n'; head -c 200 /dev/urandom")
    assert output.text.startswith("a\ufffdbc\n")
    output.text.encode()


async def test_the_environment_is_calm_and_holds_no_keys(session: Session) -> None:
    text = (await session.run("env")).text
    for line in ("CI=1", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb", "GIT_TERMINAL_PROMPT=0"):
        assert line in text.splitlines()
    assert "OPENAI" not in text
    assert KEY not in text


async def test_a_kept_output_holds_no_known_key(session: Session) -> None:
    output = await session.run(f"seq 5000; echo {KEY}; seq 5000")
    assert output.full is not None
    kept = session.outputs.path(output.full).read_text()
    assert KEY not in kept
    assert "5000\n[redacted KEY]\n1\n" in kept


async def test_output_goes_to_memory_where_the_disk_has_no_room(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file in the place of the folder")
    session = Session(tmp_path)
    output = await session.run("seq 20000")
    assert output.full is None
    assert "no room to keep" in output.text
    assert output.text.endswith("20000\n[exit 0]")
    assert session.scope.outputs == []


async def test_live_output_is_plain_text(session: Session) -> None:
    await session.run(r"printf '\033[31mred\033[0m\n'")
    assert session.scope.shown == ["red\n"]


async def test_cancelling_leaves_nothing(session: Session) -> None:
    task = asyncio.create_task(session.run("setsid sleep 300 & sleep 300"))
    await eventually(lambda: len(marked_pids(CALL)) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked_pids(CALL) == []


async def test_the_preview_shows_the_whole_command_and_where_it_runs(session: Session) -> None:
    preview = await session.bash.preview({"command": "cd /tmp/x &&\nrm -rf ./*"})
    assert preview.title == "bash cd /tmp/x && rm -rf ./*"
    assert preview.detail.startswith("cd /tmp/x &&\nrm -rf ./*\n")
    assert str(session.root) in preview.detail
    assert preview.command == "cd /tmp/x &&\nrm -rf ./*"


async def test_a_link_out_of_the_tree_is_shown_to_the_policy(session: Session) -> None:
    (session.root / "notes.txt").symlink_to("/etc/passwd")
    (session.root / "plain.txt").write_text("x")
    preview = await session.bash.preview({"command": "cat notes.txt plain.txt"})
    assert preview.paths == ("/etc/passwd",)
    question = PermissionQuestion(
        "bash", "execute", str(session.root), command=preview.command, paths=preview.paths
    )
    assert decide("ask", question).decision == "ask"


async def test_wrong_arguments_are_refused(session: Session) -> None:
    with pytest.raises(ArgumentsInvalid, match="command"):
        await session.bash.run({}, session.scope)


async def test_a_job_runs_on_and_is_read_piece_by_piece(session: Session) -> None:
    output = await session.run("echo one; sleep 0.8; echo two; exit 4", background=True)
    assert output.text.startswith("Job b1 runs.")
    assert len(session.scope.processes) == 1
    assert (await session.read(job_id="b1")).text == "one\n[b1 running]"
    assert (await session.read(job_id="b1")).text == "(nothing new)\n[b1 running]"
    ended = await session.read(job_id="b1", wait_s=5)
    assert ended.text == "two\n[b1 exit 4]"
    assert ended.details["exit_code"] == 4
    assert (await session.read(job_id="b1")).text == "(no more output)\n[b1 exit 4]"


async def test_a_job_that_fails_at_once_says_so(session: Session) -> None:
    assert (await session.run("exit 1", background=True)).text.startswith("Job b1 ended at once.")


async def test_a_job_gets_no_input(session: Session) -> None:
    await session.run("cat; echo end", background=True)
    assert (await session.read(job_id="b1", wait_s=5)).text == "end\n[b1 exit 0]"


async def test_a_character_that_is_half_printed_waits_for_its_other_half(session: Session) -> None:
    await session.run(r"printf 'a\xe4'; sleep 0.8; printf '\xb8\xad'", background=True)
    assert (await session.read(job_id="b1")).text == "a\n[b1 running]"
    assert (await session.read(job_id="b1", wait_s=5)).text == "中\n[b1 exit 0]"


async def test_a_foreground_command_leaves_jobs_alone(session: Session) -> None:
    await session.run("setsid sleep 300 & sleep 300", background=True)
    await session.run("setsid sleep 301 & echo hi")
    assert (await session.read(job_id="b1")).text == "(nothing new)\n[b1 running]"
    assert len(marked_pids(CALL)) == 3


async def test_a_job_is_stopped_with_everything_below_it(session: Session) -> None:
    await session.run("setsid sleep 300 & sleep 300", background=True)
    assert (await session.stop("b1")).text == "Job b1 is stopped."
    assert marked_pids(CALL) == []
    assert (await session.read(job_id="b1")).text.endswith("[b1 stopped]")
    assert (await session.stop("b1")).text == "Job b1 had ended: stopped."


async def test_the_kept_output_of_a_job_holds_no_known_key(session: Session) -> None:
    for command in (f"echo {KEY}", f"echo {KEY}; sleep 300"):
        await session.run(command, background=True)
    await session.stop("b2")
    for name in session.scope.outputs:
        assert session.outputs.read_text(name) == "[redacted KEY]\n"


async def test_jobs_are_listed(session: Session) -> None:
    assert (await session.read()).text == "There are no background jobs."
    await session.run("echo hi; sleep 300", background=True)
    await session.run("exit 3", background=True)
    first, second = (await session.read()).text.splitlines()
    assert first == "b1 [running, started 0 s ago, 3 bytes unread] echo hi; sleep 300"
    assert second == "b2 [exit 3, 0 bytes unread] exit 3"


@pytest.mark.parametrize("job_id", ["b9", "1"])
async def test_an_unknown_job_is_told_with_those_there_are(session: Session, job_id: str) -> None:
    await session.run("true", background=True)
    for output in (await session.read(job_id=job_id), await session.stop(job_id)):
        assert output.is_error
        assert "b1" in output.text


async def test_a_job_that_cannot_start_is_told(session: Session) -> None:
    output = await session.run("echo '\0'", background=True)
    assert output.is_error
    assert session.jobs.all() == ()


async def test_jobs_die_with_the_session(session: Session) -> None:
    await session.run("setsid sleep 300 & sleep 300", background=True)
    await session.jobs.close()
    assert marked_pids(CALL) == []
    assert session.jobs.all() == ()


async def _nothing(ref: ProcessRef) -> None: ...


async def test_too_many_jobs_are_refused(session: Session) -> None:
    for _ in range(16):
        await session.jobs.start(
            "sleep 300",
            ShellTerms(session.root, dict(os.environ)),
            call_id=CALL,
            output=CommandOutput.open(None),
            on_started=_nothing,
        )
    output = await session.run("sleep 300", background=True)
    assert output.is_error
    assert "bash_stop" in output.text


TESTS_OF_A_PROJECT = (
    "import unittest\nclass T(unittest.TestCase):\n"
    + "".join(f"    def test_{n}(self): pass\n" for n in range(40))
    + "    def test_red(self): self.assertEqual(1, 2)\n"
)


async def test_what_passed_is_left_out_of_a_test_run_and_kept_beside_the_trace(session: Session) -> None:
    (session.root / "test_it.py").write_text(TESTS_OF_A_PROJECT)
    output = await session.run("python3 -m unittest -v test_it")
    assert "AssertionError: 1 != 2" in output.text
    assert "test_39 " not in output.text
    assert output.text.endswith("[exit 1]")
    assert (
        f"[40 lines of unittest that tell of no failure left out; the whole is in outputs/{output.full}]"
        in (output.text)
    )
    assert output.full is not None
    assert "test_39 (test_it.T.test_39) ... ok" in session.outputs.read_text(output.full)


async def test_a_log_that_is_only_shown_stays_whole(session: Session) -> None:
    (session.root / "test_it.py").write_text(TESTS_OF_A_PROJECT)
    await session.run("python3 -m unittest -v test_it 2> log.txt")
    assert "test_39 (test_it.T.test_39) ... ok" in (await session.run("cat log.txt")).text


async def test_colours_are_told_beside_the_plain_text(session: Session) -> None:
    output = await session.run("printf '\\033[31mred\\033[0m \\033]0;t\\007word\\n'")
    assert output.text == "red word\n[exit 0]"
    assert output.details[COLORS] == [[0, 3, "31"]]
    assert COLORS not in (await session.run("echo plain")).details


async def test_where_a_key_is_taken_out_there_are_no_colours(session: Session) -> None:
    output = await session.run(f"printf '\\033[31mred\\033[0m {KEY}\\n'")
    assert COLORS not in output.details
