from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.kit import TORI, Project, says
from tests.faults.session_kit import WireReply, WireRequest, call, does, on_wire
from tests.trace.records import messages, session, write_lines
from tests.ui.pty_app import READY, app_in_pty
from tests.wire.answers import RawAnswer, in_order
from tori_tui.domain.commands import CompactContext, InterruptRun, SubmitPrompt
from tori_tui.domain.events import MessagesFolded, ToolRunStarted
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.trace.codec import encode
from tori_tui.trace.store import MESSAGES_NAME

POOR_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


def resumed(project: Project) -> subprocess.CompletedProcess[bytes]:
    return project.tori("run", "--resume", "", "and now?", "--mode", "auto")


def test_trace_cut_inside_a_character_loads_with_a_warning_and_is_written_on(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    assert project.tori("run", "größer", "--mode", "auto").returncode == 0
    path = project.traces[0] / MESSAGES_NAME
    n_lines = path.read_bytes().count(b"\n")
    with path.open("ab") as file:
        file.write(b'{"role":"user","content":"\xe4\xb8')
    done = resumed(project)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n"), done.stderr
    assert f"Trace, line {n_lines + 1}".encode() in done.stderr
    kinds = [json.loads(line)["kind"] for line in path.read_bytes().splitlines()]
    assert kinds[n_lines:].count("message") == 2


def test_two_records_that_share_a_line_cost_at_most_that_line(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    assert project.tori("run", "go", "--mode", "auto").returncode == 0
    path = project.traces[0] / MESSAGES_NAME
    n_lines = path.read_bytes().count(b"\n")
    with path.open("ab") as file:
        file.write(b'{"type":"assistant","content":"ab{"type":"user","content":"hi"}\n')
    done = resumed(project)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n"), done.stderr
    assert f"Trace, line {n_lines + 1}".encode() in done.stderr
    shown = project.tori("show", "--unfold")
    assert shown.stdout.count(b"Hello.") == 2


def measured(project: Project, *arguments: str) -> tuple[float, float, int]:
    """Run and return seconds, the peak of memory in MB, and the exit code."""
    began = time.perf_counter()
    process = subprocess.Popen(
        (*TORI, *arguments),
        cwd=project.root,
        env=project.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - began, usage.ru_maxrss / 1024, process.returncode


def test_session_of_half_a_gigabyte_costs_others_neither_time_nor_memory(tmp_path: Path) -> None:
    project = Project.make(tmp_path, by_a_turn("Hello."))
    before = measured(project, "run", "hi", "--mode", "auto")
    listed_before = measured(project, "list")
    huge = write_lines(project.root / ".trace" / "20200101-000000-huge", session("A long way"))
    with huge.open("r+b") as file:
        # Between a real head and a real tail: the list reads both and nothing between.
        file.seek(500_000_000)
        file.write(b"\n" + b"".join(encode(record) for record in messages(2, 5)))
    after = measured(project, "run", "hi", "--mode", "auto")
    listed_after = measured(project, "list")
    assert (before[2], after[2], listed_after[2]) == (0, 0, 0)
    for was, now in ((before, after), (listed_before, listed_after)):
        assert now[0] < was[0] + 1
        assert now[1] < was[1] + 30
    assert b"A long way" in project.tori("list").stdout


def by_a_turn(text: str) -> str:
    return says(text) * 3


def test_output_of_a_command_that_fills_disks_is_capped_in_the_trace(tmp_path: Path) -> None:
    command = json.dumps({"command": "yes 0123456789 | head -c 20000000"})
    project = Project.make(
        tmp_path, f"[[reply]]\n[[reply.call]]\nname = \"bash\"\narguments = '{command}'\n" + says("ok")
    )
    assert project.tori("run", "hi", "--mode", "auto").returncode == 0
    assert (project.traces[0] / MESSAGES_NAME).stat().st_size < 200_000


def test_trace_is_utf8_whatever_the_locale_and_the_app_resumes_it(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Für 中: ✓") + says("Noch da: é中"))
    environ = {**project.environ, **POOR_LOCALE, "TORI_MODE": "auto"}
    with app_in_pty((), cwd=project.root, environ=environ) as app:
        app.wait_for(READY)
        app.read(0.5)
        app.send("é中\r".encode())
        app.wait_for("✓")
        app.wait_for("done")
        app.send(b"\x11")
        assert app.wait() == 0
    text = (project.traces[0] / MESSAGES_NAME).read_text("utf-8")
    assert "é中" in text
    with app_in_pty(("resume",), cwd=project.root, environ=environ) as app:
        app.wait_for("é中")
        app.send(b"\x11")
        assert app.wait() == 0


async def test_half_a_character_in_a_models_text_stops_no_write(tree: Path) -> None:
    chunk = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"w","choices":[{"index":0,'
    halves = RawAnswer(
        (
            f'data: {chunk}"delta":{{"content":"a \\ud800 b"}},"finish_reason":null}}]}}\n\n'.encode(),
            f'data: {chunk}"delta":{{}},"finish_reason":"stop"}}]}}\n\ndata: [DONE]\n\n'.encode(),
        )
    )
    async with on_wire(in_order(halves, WireReply("Fine.")), tree) as (server, driver):
        assert (await driver.run("hi")).status == "done"
        assert (await driver.run("again")).status == "done"
    (driver.session.directory / MESSAGES_NAME).read_text("utf-8")
    assert "a" in json.dumps(server.requests[1].body)


def history(request: WireRequest) -> Sequence[object]:
    items = list(request.items)
    return items[:-1] if items[-1].get("role") == "system" else items


async def test_resumed_request_holds_exactly_what_the_session_shows(tree: Path) -> None:
    for n in range(6):
        (tree / f"part{n}.txt").write_text("".join(f"part {n} line {k} {k * 7919}\n" for k in range(300)))
    reads = [does(call("read_file", path=f"part{n}.txt"), text=f"Part {n}.") for n in range(6)]
    explored = call("explore", branches=["look around", "look again"], background="There are files.")
    script = in_order(
        *reads,
        WireReply("All read."),
        does(call("bash", command="echo begun; sleep 30"), text="A long command."),
        does(explored, text="I send two out."),
        WireReply("I found files."),
        WireReply("I found files too."),
        WireReply("Both are back."),
        WireReply("cut " * 200, piece_delay_s=0.05),
    )
    async with on_wire(script, tree) as (server, driver):
        await driver.run("read it all")
        driver.session.send(CompactContext())
        await driver.until(MessagesFolded)
        driver.session.send(SubmitPrompt("run the long one"))
        while True:
            started = await driver.until(ToolRunStarted)
            if isinstance(started, ToolRunStarted) and started.name == "bash":
                break
        await driver.run(InterruptRun())
        await driver.run("send two out")
        driver.session.send(SubmitPrompt("answer, and be cut off"))
        while len(server.requests) < 13:
            await driver.next()
        await driver.run(InterruptRun())
        last = server.requests[11]
        shown = [entry.said.text for entry in driver.session.state.view(MAIN_CONTEXT).entries]
    async with on_wire(in_order(WireReply("Here I am.")), tree, resume="") as (server, driver):
        await driver.run("and now?")
    (first,) = server.requests
    # The new process sends the old one's history on, byte for byte, and behind it what came since.
    assert list(history(first))[: len(history(last))] == list(history(last))
    assert first.body["tools"] == last.body["tools"]
    sent = json.dumps(first.body, ensure_ascii=False)
    assert first.user_texts[-1].endswith("and now?")
    assert "cut cut" not in sent
    # The fold names the mission that it stands for; every other word of the user's is there once.
    assert first.user_texts[0].startswith("read it all")
    for said in ("run the long one", "send two out", "answer, and be cut off"):
        assert "\n".join(first.user_texts).count(said) == 1
        assert said in shown
    assert "Both are back." in sent


def test_clear_stays_open_with_an_empty_context_in_a_new_session(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("The first answer.") + says("Unused."))
    assert project.tori("run", "old words", "--mode", "auto").returncode == 0
    environ = {**project.environ, "TORI_MODE": "auto"}
    project.recording.write_text(says("A fresh answer."))
    with app_in_pty(("resume",), cwd=project.root, environ=environ) as app:
        app.wait_for("The first answer.")
        app.read(0.5)
        app.forget()
        app.send(b"/clear\r")
        app.wait_for(READY)
        app.read(0.5)
        app.forget()
        app.send(b"hi\r")
        app.wait_for("A fresh answer.")
        app.wait_for("done")
        assert "old words" not in app.text
        app.send(b"\x11")
        assert app.wait() == 0
    assert len(project.traces) == 2
    assert b"old words" not in (project.traces[1] / MESSAGES_NAME).read_bytes()


def test_session_that_is_not_there_is_told_with_an_exit_code(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    none = project.tori("resume", "--mode", "auto")
    assert none.returncode == 2
    assert b"no trace" in none.stderr.lower()
    assert b"Traceback" not in none.stderr
    assert project.tori("run", "hi", "--mode", "auto").returncode == 0
    unknown = project.tori("resume", "nothing-like-it", "--mode", "auto")
    assert unknown.returncode == 2
    assert b"nothing-like-it" in unknown.stderr


def test_session_whose_folder_has_moved_goes_on_where_it_lies_now(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("Hello."))
    assert project.tori("run", "hi", "--mode", "auto").returncode == 0
    project.root = project.root.rename(tmp_path / "moved")
    done = resumed(project)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n"), done.stderr
