from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.kit import EDIT, LIMIT_S, READ, Project, calls, says
from tori_tui.trace.codec import decode

STEERING = {*range(0x09), *range(0x0B, 0x20), 0x7F}


def holds_no_control(text: bytes) -> bool:
    return not set(text) & STEERING and not any(0x80 <= ord(c) < 0xA0 for c in text.decode())


def test_a_mission_is_run_and_its_answer_is_all_of_stdout(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + EDIT + says("I changed a.txt."))
    done = project.tori("run", "change it", "--mode", "edit")
    assert (done.returncode, done.stdout) == (0, b"I changed a.txt.\n"), done.stderr
    assert (project.root / "a.txt").read_text() == "two\n"
    assert b"a.txt" in done.stderr
    assert b"\x1b" not in done.stderr
    assert len(project.traces) == 1


def test_json_prints_the_trace_and_what_is_not_kept(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + says("It says one.\u009b"))
    done = project.tori("run", "read", "--mode", "auto", "--json")
    lines = done.stdout.splitlines(keepends=True)
    kept = (project.traces[0] / "messages.jsonl").read_bytes().splitlines(keepends=True)
    durable = [line for line in lines if "seq" in json.loads(line)]
    assert done.returncode == 0
    assert durable == kept
    assert all(decode(line) is not None for line in durable)
    assert {json.loads(line)["kind"] for line in lines} >= {"text", "request_started", "tool_started"}


def test_what_is_denied_without_a_user_is_listed_and_no_success(tmp_path: Path) -> None:
    project = Project.make(tmp_path, EDIT + says("I could not."))
    done = project.tori("run", "change it", environ={"TORI_MODE": "ask"})
    assert done.returncode == 3
    assert b"denied: edit_file a.txt" in done.stderr
    assert (project.root / "a.txt").read_text() == "one\n"


def test_without_a_terminal_and_a_mode_it_says_which_modes_do(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("x"))
    done = project.tori("run", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--mode edit" in done.stderr
    assert b"--mode auto" in done.stderr
    assert not (project.root / ".trace").exists()


def test_a_mode_of_the_configuration_counts_as_given(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("fine"))
    config = Path(project.environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('mode = "plan"\n')
    assert project.tori("run", "x").returncode == 0
    config.write_text('mode = "plan"\nmodell = "x"\n')
    done = project.tori("run", "x")
    assert done.returncode == 2
    assert f"{config}:2: there is no key 'modell'" in done.stderr.decode()


def test_a_mission_comes_from_stdin_only_when_asked_for(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("ok"))
    done = project.tori("run", "-", "--mode", "auto", stdin="fix é\n".encode())
    assert done.returncode == 0
    assert "fix é" in (project.traces[0] / "messages.jsonl").read_text()


def test_an_open_stdin_does_not_hold_it_up(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("ok"))
    with project.started("run", "hi", "--mode", "auto") as process:
        # The pipe to its stdin stays open all the while.
        assert process.wait(LIMIT_S) == 0


@pytest.mark.parametrize("mission", ["", "  \n"])
def test_an_empty_mission_is_refused(tmp_path: Path, mission: str) -> None:
    project = Project.make(tmp_path, says("ok"))
    for done in (
        project.tori("run", mission, "--mode", "auto"),
        project.tori("run", "-", "--mode", "auto", stdin=mission.encode()),
    ):
        assert done.returncode == 2
        assert b"is empty" in done.stderr


def test_a_mission_of_a_megabyte_and_broken_utf8_is_taken(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("ok"))
    done = project.tori("run", "-", "--mode", "auto", stdin=b"fix \xff\xfe " + b"x" * 1_000_000)
    assert (done.returncode, done.stdout) == (0, b"ok\n"), done.stderr[-2_000:]
    done = project.tori("run", b"caf\xe9", "--mode", "auto")
    assert done.returncode == 0


def test_no_mission_at_all_is_wrong_usage(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("ok"))
    assert project.tori("run", "--mode", "auto").returncode == 2
    assert project.tori("run", "x", "--mode", "wild").returncode == 2
    assert project.tori("run", "x", "--mode", "auto", "--cwd", "/nowhere").returncode == 2
    assert project.tori().returncode == 2


def test_hostile_text_from_model_and_tools_stays_text(tmp_path: Path) -> None:
    evil = "a\x1b[2J\x9b31m[/red]\x07"
    recording = calls("bash", json.dumps({"command": f"printf '{evil}'; exit 3"}), evil) + says(evil)
    project = Project.make(tmp_path, recording)
    done = project.tori("run", evil, "--mode", "auto")
    assert done.returncode == 0, done.stderr
    assert b"[/red]" in done.stdout
    shown = project.tori("show", "--unfold")
    assert b"[/red]" in shown.stdout
    for text in (done.stdout, done.stderr, shown.stdout, project.tori("list").stdout):
        assert holds_no_control(text)


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + EDIT + says("done"))
    done = project.shell("tori run x --mode auto --json | head -1 >/dev/null; exit ${PIPESTATUS[0]}")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert (project.root / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(tmp_path: Path, closed: str) -> None:
    project = Project.make(tmp_path, EDIT + says("done"))
    done = project.shell(f"tori run x --mode auto {closed}")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert (project.root / "a.txt").read_text() == "two\n"
    for line in (project.traces[0] / "messages.jsonl").read_bytes().splitlines():
        json.loads(line)


def test_a_poor_charset_is_no_error(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("café 中"))
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = project.tori("run", "größer".encode(), "--mode", "auto", environ=environ)
    assert (done.returncode, done.stdout) == (0, b"caf\\xe9 \\u4e2d\n")
    assert "größer" in (project.traces[0] / "messages.jsonl").read_text("utf-8")


def test_a_recording_that_ends_too_soon_is_the_providers_failure(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ)
    done = project.tori("run", "x", "--mode", "auto")
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"no more replies" in done.stderr


def test_a_limit_has_its_own_code(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + READ.replace("a.txt", "b.txt") + says("never"))
    done = project.tori("run", "x", "--mode", "auto", "--max-turns", "1")
    assert done.returncode == 4


def test_a_cost_limit_needs_a_price(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("x"))
    environ = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    arguments = ("run", "x", "--mode", "auto", "--max-cost", "1", "--model", "openai-chat/nobody-knows-it")
    done = project.tori(*arguments, environ=environ)
    assert done.returncode == 2
    assert b"price" in done.stderr


def test_open_goals_are_no_success(tmp_path: Path) -> None:
    plan = calls("goal", '{"add": "one", "focus": "1"}')
    project = Project.make(tmp_path, plan + says("Enough.") * 3)
    done = project.tori("run", "x", "--mode", "auto")
    assert done.returncode == 3
    assert done.stdout == b"Enough.\n"


def test_a_red_check_of_the_mission_is_no_success(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Done.") * 5)
    done = project.tori("run", "x", "--mode", "auto", "--check", "exit 4")
    assert done.returncode == 3
    done = project.tori("run", "x", "--mode", "auto", "--check", "grep one a.txt")
    assert done.returncode == 0


def test_a_goal_with_a_red_check_cannot_be_done_and_is_named_at_the_end(tmp_path: Path) -> None:
    plan = calls("goal", '{"add": "Make it [check: test -e made], Tell", "focus": "1"}')
    script = plan + calls("goal", '{"done": "made it"}') + says("All done.") * 3
    project = Project.make(tmp_path, script)
    done = project.tori("run", "x", "--mode", "auto")
    assert done.returncode == 3
    assert "1 (its check is not green: test -e made), 2" in done.stderr.decode()
    shown = project.tori("show").stdout.decode()
    assert "[→] 1. Make it" in shown


def test_an_aborted_run_failed(tmp_path: Path) -> None:
    project = Project.make(tmp_path, calls("abort", '{"reason": "no such thing"}'))
    done = project.tori("run", "x", "--mode", "auto")
    assert done.returncode == 1
    assert b"no such thing" in done.stderr


def test_without_any_key_it_names_the_variable_and_the_demo(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("x"))
    del project.environ["TORI_MODEL"]
    done = project.tori("run", "x", "--mode", "auto")
    assert done.returncode == 2
    assert b"OPENAI_API_KEY" in done.stderr
    assert b"tori demo" in done.stderr


def test_an_interrupt_after_the_end_leaves_the_exit_code_of_the_run(tmp_path: Path) -> None:
    """The interpreter takes its handlers away before it is done: Ctrl+C would end it by the signal."""
    project = Project.make(tmp_path, says("hi"))
    ending = (
        "import os, signal, sys\n"
        "from tori_tui.cli.main import main\n"
        "sys.argv = ['tori', 'run', 'go', '--mode', 'auto']\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", ending],
        cwd=project.root,
        env=project.environ,
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, b"hi\n"), run.stderr


def test_an_interrupt_at_the_very_end_is_told_as_one(tmp_path: Path) -> None:
    """It comes when the command has ended and its code is being made."""
    project = Project.make(tmp_path, says("hi"))
    interrupted = (
        "import sys\n"
        "from tori_tui.cli import failures, main\n"
        "class Streams:\n"
        "    def __getattr__(self, name):\n"
        "        raise KeyboardInterrupt\n"
        "failures.streams = Streams()\n"
        "sys.argv = ['tori', 'run', 'go', '--mode', 'auto']\n"
        "main.main()\n"
    )
    command = [sys.executable, "-c", interrupted]
    run = subprocess.run(command, cwd=project.root, env=project.environ, capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (130, b"hi\n"), run.stderr


def test_a_session_without_a_record_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    """As after a loss of power: what lies beside its records is all that is left of it."""
    project = Project.make(tmp_path, calls("bash", '{"command": "seq 20000"}') + says("done"))
    assert project.tori("run", "go", "--mode", "auto").returncode == 0
    (trace,) = project.traces
    (trace / "messages.jsonl").write_bytes(b"")
    before = sorted(path.name for path in trace.rglob("*"))
    run = project.tori("resume", trace.name, "--mode", "auto")
    assert run.returncode != 0
    assert b"holds no record that can be read" in run.stderr
    assert str(trace).encode() in run.stderr
    assert sorted(path.name for path in trace.rglob("*")) == before


def test_a_damaged_session_names_the_first_lines_and_counts_the_rest(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("hi"))
    project.tori("run", "go", "--mode", "auto")
    (trace,) = project.traces
    with (trace / "messages.jsonl").open("ab") as file:
        file.write(b"rubbish\n" * 40)
        file.write(b'{"v":1,"seq":999999,"ts":"2026-01-01T00:00:00.000Z","kind":"run","status":"done"}\n')
    told = project.tori("show", trace.name).stderr.decode().splitlines()
    assert len(told) == 6
    assert told[-1].endswith(": 35 more lines could not be read")


def test_a_stopped_session_is_resumed_and_given_a_further_word(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + says("First."))
    assert project.tori("run", "x", "--mode", "auto", "--max-turns", "1").returncode == 4
    project.recording.write_text(says("Second."))
    done = project.tori("resume", "--mode", "auto")
    assert (done.returncode, done.stdout) == (0, b"Second.\n"), done.stderr
    done = project.tori("resume", "--mode", "auto")
    assert (done.returncode, done.stdout) == (0, b"Second.\n")
    project.recording.write_text(says("Third."))
    trace_id = project.traces[0].name
    done = project.tori("run", "one thing more", "--resume", trace_id[:-2], "--mode", "auto")
    assert (done.returncode, done.stdout) == (0, b"Third.\n"), done.stderr
    assert len(project.traces) == 1


def test_a_trace_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("x"))
    for arguments in (("resume", "nope", "--mode", "auto"), ("show", "nope"), ("show",)):
        done = project.tori(*arguments)
        assert done.returncode == 2, arguments
        assert b"Traceback" not in done.stderr
    assert project.tori("list").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    # A time of its own, since other tests may run beside this one.
    sleep = f"sleep {53 + number}.17"
    project = Project.make(tmp_path, calls("bash", f'{{"command": "touch begun; exec {sleep}"}}') + says("x"))
    with project.started("run", "x", "--mode", "auto") as process:
        while not (project.root / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert b"interrupted" in errors
    left = subprocess.run(("pgrep", "-f", sleep), capture_output=True, check=False)
    assert left.stdout == b""
    last = json.loads((project.traces[0] / "messages.jsonl").read_text().splitlines()[-1])
    assert (last["kind"], last["status"]) == ("run", "interrupted")
