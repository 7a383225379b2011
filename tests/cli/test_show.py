from __future__ import annotations

import json
from pathlib import Path

from tests.cli.kit import READ, Project, calls, says

PLAN = calls("goal", '{"add": "Look, Tell", "focus": "1"}')
LOOKED = calls("goal", '{"done": "seen", "focus": "2"}')
TOLD = calls("goal", '{"done": "told"}')


def finished(tmp_path: Path) -> Project:
    project = Project.make(tmp_path, PLAN + READ + LOOKED + TOLD + says("All done."))
    assert project.tori("run", "Look and tell", "--mode", "auto").returncode == 0
    return project


def test_a_session_is_shown_listed_and_exported(tmp_path: Path) -> None:
    project = finished(tmp_path)
    shown = project.tori("show").stdout.decode()
    assert shown.startswith("Mission: Look and tell\n══════════════════════\n[✓] 1. Look (1 step, ")
    assert '    └─ read_file("a.txt")\n[✓] 2. Tell (0 steps, ' in shown
    assert "Progress: 2/2 goals · 5 turns" in shown
    trace = project.traces[0]
    for name in (trace.name, trace.name[:10], str(trace), "latest"):
        assert project.tori("show", name).stdout.decode() == shown
    unfolded = project.tori("show", "--unfold").stdout.decode()
    assert "All done." in unfolded
    as_json = json.loads(project.tori("show", "--json").stdout)
    assert (as_json["id"], as_json["status"], as_json["turns"]) == (trace.name, "done", 5)
    assert [goal["summary"] for goal in as_json["goals"]] == ["seen", "told"]
    assert {'read_file("a.txt")'} == {step["text"] for step in as_json["steps"] if step["call"]}


def test_a_torn_tail_is_told_and_left_out(tmp_path: Path) -> None:
    project = finished(tmp_path)
    shown = project.tori("show").stdout
    messages = project.traces[0] / "messages.jsonl"
    for rubbish in (b'{"v":1,"seq":99,"kind":"mess', b"\0" * 4096, b"\xe4\xb8", b"xx"):
        whole = messages.read_bytes()
        messages.write_bytes(whole + rubbish)
        done = project.tori("show")
        assert (done.returncode, done.stdout) == (0, shown), rubbish
        assert messages.read_bytes() == whole + rubbish
        messages.write_bytes(whole)


def test_the_list_is_one_line_a_session(tmp_path: Path) -> None:
    project = finished(tmp_path)
    head, line = project.tori("list").stdout.decode().splitlines()
    assert head.split() == ["TRACE", "CHANGED", "STATUS", "TURNS", "COST", "MISSION"]
    assert line.startswith(project.traces[0].name)
    assert " done " in line
    assert line.endswith("Look and tell")
    entry = json.loads(project.tori("list", "--json").stdout)
    assert (entry["mission"], entry["status"]) == ("Look and tell", "done")


def test_without_any_trace_the_list_says_how_to_make_one(tmp_path: Path) -> None:
    done = Project.make(tmp_path, says("x")).tori("list")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"tori run" in done.stderr
