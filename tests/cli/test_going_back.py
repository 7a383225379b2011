from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says
from tori_tui.trace.store import JsonlTraceStore

PLAN = calls("goal", '{"add": "Greet, Part, Rest", "focus": "1"}')
GREET = calls("bash", json.dumps({"command": "echo hello > hello.txt; echo two >> a.txt"}))
TO_PART = calls("goal", '{"done": "hello.txt greets", "focus": "2"}')
PART = calls("bash", json.dumps({"command": "echo bye > bye.txt; rm hello.txt; echo three >> a.txt"}))
TO_REST = calls("goal", '{"done": "bye.txt parts", "focus": "3"}')
REST = calls("goal", '{"done": "nothing was left"}')


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.make(tmp_path, PLAN + GREET + TO_PART + PART + TO_REST + REST + says("All done."))
    made.environ |= {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    done = made.tori("run", "Greet and part", "--mode", "auto")
    assert done.returncode == 0, done.stderr
    return made


def git(project: Project, *arguments: str) -> str:
    done = subprocess.run(
        ("git", *arguments), cwd=project.root, env=project.environ, capture_output=True, check=True
    )
    return done.stdout.decode()


def out(project: Project, *arguments: str) -> str:
    done = project.tori(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def names(project: Project) -> set[str]:
    return {path.name for path in project.root.iterdir() if not path.name.startswith(".")}


def test_rewind_dry_then_real_then_undone(project: Project) -> None:
    dry = out(project, "rewind", "--goal", "2", "--dry-run")
    assert "restore a.txt" in dry
    assert "delete  bye.txt" in dry
    assert "create  hello.txt" in dry
    assert names(project) == {"a.txt", "bye.txt"}
    assert "Back to goal 2 Part. 3 paths restored." in out(project, "rewind", "--goal", "2")
    assert names(project) == {"a.txt", "hello.txt"}
    assert (project.root / "a.txt").read_text() == "one\ntwo\n"
    assert "[→] 2. Part" in out(project, "show")
    assert "bye" not in out(project, "diff")
    out(project, "rewind", "--undo")
    assert out(project, "diff", "--goal", "2").count("+bye") == 1
    assert names(project) == {"a.txt", "bye.txt"}
    assert "[✓] 3. Rest" in out(project, "show")
    out(project, "rewind", "--redo")
    assert names(project) == {"a.txt", "hello.txt"}


def test_rewind_without_a_place_names_the_goals(project: Project) -> None:
    done = project.tori("rewind")
    assert done.returncode == 2
    assert b"goal 1 Greet; goal 2 Part" in done.stderr


def test_a_place_that_is_none_is_wrong_usage(project: Project) -> None:
    for arguments, told in (
        (("rewind", "--goal", "99"), "Goal 99 is not in the plan.\nGoals to go back to: 1, 2, 3."),
        (("rewind", "--goal", "soon"), "'soon' is no goal id."),
        (("rewind", "--turn", "99"), "There is no turn 99 to go back to.\nTurns to go back to: 1 to 7."),
        (("rewind", "--undo"), "There is nothing to undo."),
        (("rewind", "--undo", "--redo"), "exclude each other"),
        (("rewind", "--undo", "--goal", "1"), "--undo knows where to"),
        (("diff", "--goal", "99"), "There is no goal 99."),
    ):
        done = project.tori(*arguments)
        assert (done.returncode, done.stdout) == (2, b""), arguments
        assert told in done.stderr.decode()


def test_diff_shows_one_goals_change_alone(project: Project) -> None:
    second = out(project, "diff", "--goal", "2")
    assert "+bye" in second
    assert "+three" in second
    assert "+two" not in second
    whole = out(project, "diff")
    assert "+two" in whole
    assert "hello" not in whole
    nothing = project.tori("diff", "--goal", "3")
    assert b"No change of a file is known of goal 3" in nothing.stderr


def test_commits_by_goal_hold_the_agents_changes_and_none_of_the_users(project: Project) -> None:
    (project.root / "mine.txt").write_text("mine\n")
    git(project, "add", "mine.txt")
    (project.root / "a.txt").write_text("one\ntwo\nthree\nmine\n")
    lines = out(project, "commit", "--by-goal").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["Greet", "Part"]
    log = git(project, "log", "--reverse", "--format=%s|%b", "--name-status")
    assert "Greet|hello.txt greets\n\nGoal 1 of " in log
    assert "D\thello.txt" in log
    assert git(project, "show", "HEAD:a.txt") == "one\ntwo\nthree\n"
    assert git(project, "status", "--porcelain") == " M a.txt\nA  mine.txt\n"
    again = project.tori("commit", "--by-goal")
    assert (again.returncode, again.stdout) == (0, b"")


def test_blame_names_the_goal_of_a_line(project: Project) -> None:
    trace = project.traces[0].name
    (project.root / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    assert out(project, "blame", "a.txt").splitlines() == [
        "1: before tori: one",
        f"2: goal 1 Greet ({trace}, turn 2): two",
        f"3: goal 2 Part ({trace}, turn 4): three",
        "4: you, since the last checkpoint: four",
    ]
    assert out(project, "blame", "a.txt:3") == f"3: goal 2 Part ({trace}, turn 4): three\n"
    assert project.tori("blame", "a.txt:9").returncode == 2


def fork_recording(project: Project) -> None:
    project.recording.write_text(
        calls("bash", json.dumps({"command": "cat a.txt; ls"}))
        + calls("goal", '{"done": "parted otherwise", "focus": "3"}')
        + calls("goal", '{"done": "rest"}')
        + says("Forked and done.")
    )


def test_a_rewind_and_its_undo_change_nobodys_lines(project: Project) -> None:
    before = out(project, "blame", "a.txt") + out(project, "blame", "bye.txt")
    out(project, "rewind", "--goal", "2")
    assert "goal 1 Greet" in out(project, "blame", "hello.txt:1")
    out(project, "rewind", "--undo")
    assert out(project, "blame", "a.txt") + out(project, "blame", "bye.txt") == before
    assert "goal 2 Part" in before


def test_work_that_was_rewound_and_done_again_is_told_once_and_is_the_second_sessions(
    project: Project,
) -> None:
    out(project, "rewind", "--goal", "1")
    assert project.tori("diff").stdout == b""
    recorded = project.recording.read_text()
    project.recording.write_text(recorded.removeprefix(PLAN))
    assert out(project, "resume", "--mode", "auto") == "All done.\n"
    assert out(project, "diff").count("+two") == 1
    assert out(project, "diff", "--goal", "1").count("+two") == 1
    first = project.traces[0].name
    project.recording.write_text(recorded)
    git(project, "checkout", ".")
    (project.root / "bye.txt").unlink()
    assert out(project, "run", "Greet and part once more", "--mode", "auto") == "All done.\n"
    line = out(project, "blame", "a.txt:2")
    assert "goal 1 Greet" in line
    assert first not in line


def test_a_fork_goes_on_in_place_from_the_goal_and_the_old_session_stays(project: Project) -> None:
    old = project.traces[0]
    fork_recording(project)
    done = project.tori("resume", old.name, "--fork", "2", "--mode", "auto")
    assert (done.returncode, done.stdout) == (0, b"Forked and done.\n"), done.stderr
    new = next(path for path in project.traces if path != old)
    meta = json.loads((new / "meta.json").read_text())
    assert meta["parent"] == old.name
    goals = json.loads((new / "goal.json").read_text())["goals"]
    assert [goal["summary"] for goal in goals] == ["hello.txt greets", "parted otherwise", "rest"]
    assert names(project) == {"a.txt", "hello.txt"}
    assert "bye.txt parts" in out(project, "show", old.name)
    out(project, "rewind", old.name, "--undo")
    assert names(project) == {"a.txt", "bye.txt"}


def test_a_fork_works_in_a_copy_and_leaves_the_tree_alone(project: Project, tmp_path: Path) -> None:
    fork_recording(project)
    copy = tmp_path / "copy"
    done = project.tori("resume", "--fork", "2", "--copy", str(copy), "--mode", "auto")
    assert (done.returncode, done.stdout) == (0, b"Forked and done.\n"), done.stderr
    assert (copy / "hello.txt").exists()
    assert (copy / "a.txt").read_text() == "one\ntwo\n"
    assert names(project) == {"a.txt", "bye.txt"}
    rewound = project.tori("rewind", "--goal", "1", "--cwd", str(copy))
    assert rewound.returncode == 0, rewound.stderr
    assert not (copy / "hello.txt").exists()


def test_a_call_behind_the_fork_is_not_said_to_be_cut_off_by_a_restart(tmp_path: Path) -> None:
    also_looks = calls("bash", json.dumps({"command": "ls"})).partition("\n")[2].partition("\n")[2]
    project = Project.make(tmp_path, PLAN + also_looks + GREET + says("Greeted."))
    project.tori("run", "Greet", "--mode", "auto")
    forked = project.tori("resume", "--fork", "1", "--copy", str(tmp_path / "copy"), "--mode", "auto")
    assert "Not run: this session begins before that call." in forked.stderr.decode()


def test_sessions_are_found_by_words_and_by_name(project: Project) -> None:
    trace = project.traces[0]
    assert trace.name in out(project, "list", "GREET", "part")
    assert out(project, "list", "nonsense") == ""
    lines = (trace / "messages.jsonl").read_bytes().splitlines()
    seq = json.loads(lines[-1])["seq"] + 1
    named = {"v": 1, "seq": seq, "ts": "2026-12-01T00:00:00.000Z", "kind": "name", "name": "manners"}
    with (trace / "messages.jsonl").open("ab") as file:
        file.write(json.dumps(named, separators=(",", ":")).encode() + b"\n")
    assert "manners: Greet and part" in out(project, "list", "manners")
    assert out(project, "show", "manners") == out(project, "show", trace.name)


def test_an_ambiguous_id_and_an_open_trace_are_wrong_usage(project: Project) -> None:
    assert project.tori("run", "again", "--mode", "auto").returncode == 0
    for command in (("show",), ("resume", "--mode", "auto"), ("rewind", "--goal", "2"), ("diff",)):
        ambiguous = project.tori(command[0], "20", *command[1:])
        assert ambiguous.returncode == 2
        for trace in project.traces:
            assert trace.name in ambiguous.stderr.decode()
    with JsonlTraceStore.open(project.traces[0]):
        locked = project.tori("rewind", project.traces[0].name, "--goal", "2")
    assert locked.returncode == 2
    assert str(os.getpid()) in locked.stderr.decode()


def test_a_killed_rewind_leaves_plan_and_files_of_one_moment(project: Project) -> None:
    dice = random.Random(3)
    seen: set[bool] = set()
    for kill in range(4):
        direction = ("--undo",) if seen and kill % 2 else ("--goal", "2")
        with project.started("rewind", *direction) as process:
            time.sleep(dice.uniform(0.3, 1.5))
            process.kill()
        # Any command that opens the trace finishes what was begun.
        project.tori("rewind", "--goal", "1", "--dry-run")
        files = names(project)
        is_back = "[→] 2. Part" in out(project, "show")
        assert files == ({"a.txt", "hello.txt"} if is_back else {"a.txt", "bye.txt"})
        seen.add(is_back)
