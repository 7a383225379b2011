from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.kit import Project, calls, says
from tests.memory.redis_server import running_redis
from tori_tui.domain.ids import GoalId, TraceId
from tori_tui.domain.memory import NewFact
from tori_tui.memory.late import make_store

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def with_facts(tmp_path: Path, *texts: str) -> Project:
    project = Project.make(tmp_path, says("hi"))
    state_dir = Path(project.environ["XDG_STATE_HOME"]) / "tori"

    async def add() -> None:
        store = make_store("sqlite", project.root, state_dir)
        for text in texts:
            await store.add(NewFact(text, NOW, "agent", TraceId("t1"), GoalId("2"), "Log in"))
        await store.close()

    asyncio.run(add())
    return project


def test_facts_are_listed_searched_and_forgotten(tmp_path: Path) -> None:
    project = with_facts(tmp_path, "bcrypt is used", "用户模型在 models/user.py")
    head, second, first = project.tori("memory", "list").stdout.decode().splitlines()
    assert head.split() == ["ID", "LEARNED", "BY", "FOR", "GOAL", "FACT"]
    assert second.endswith("agent  Log in    用户模型在 models/user.py")
    assert first.startswith("1   2026-01-02")
    (found,) = project.tori("memory", "search", "模型", "user", "--json").stdout.splitlines()
    assert json.loads(found) == {
        "id": "2",
        "text": "用户模型在 models/user.py",
        "created": "2026-01-02T00:00:00.000Z",
        "by": "agent",
        "trace_id": "t1",
        "goal_id": "2",
        "goal": "Log in",
    }
    assert project.tori("memory", "forget", "2").stdout == b"Forgotten: fact 2\n"
    assert project.tori("memory", "search", "user").stderr == b"No fact has all of the words 'user'.\n"


def test_what_a_run_learned_is_told_and_the_next_run_finds_it(tmp_path: Path) -> None:
    learn = calls("memory_add", '{"fact": "tests run by: make test"}') + says("Noted.")
    project = Project.make(tmp_path, learn)
    first = project.tori("run", "learn", "--mode", "edit")
    assert first.returncode == 0, first.stderr
    assert b"  remembered: tests run by: make test  (tori memory forget 1)\n" in first.stderr
    project.recording.write_text(calls("memory_search", '{"query": "test"}') + says("By make."))
    second = project.tori("run", "find", "--mode", "edit", "--json")
    assert b"<fact id=" in second.stdout.replace(b'\\"', b"")
    listed = project.tori("memory", "list", "--json").stdout
    assert json.loads(listed)["trace_id"] in {trace.name for trace in project.traces}


def test_an_unknown_fact_is_told_and_the_others_are_forgotten(tmp_path: Path) -> None:
    project = with_facts(tmp_path, "one", "two")
    done = project.tori("memory", "forget", "1", "9", "x\x1b[2J")
    assert (done.returncode, done.stdout) == (1, b"Forgotten: fact 1\n")
    assert done.stderr.startswith(b"tori: There is no fact 9, x")
    assert b"\x1b" not in done.stderr
    assert len(project.tori("memory", "list").stdout.splitlines()) == 2


def test_no_escape_sequence_of_a_fact_reaches_the_terminal(tmp_path: Path) -> None:
    project = with_facts(tmp_path, "evil \x1b]0;owned\x07 \x1b[2J\nsecond line")
    shown = project.tori("memory", "list").stdout
    assert b"\x1b" not in shown
    assert len(shown.splitlines()) == 2


def test_nothing_remembered_is_said(tmp_path: Path) -> None:
    done = Project.make(tmp_path, says("hi")).tori("memory", "list")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"Nothing is remembered of this project yet.\n"


def test_a_subfolder_has_the_memory_of_its_project(tmp_path: Path) -> None:
    project = with_facts(tmp_path, "bcrypt is used")
    (project.root / "sub").mkdir()
    assert b"bcrypt" in project.tori("memory", "list", "--cwd", "sub").stdout


def test_a_damaged_memory_is_told_and_left(tmp_path: Path) -> None:
    project = with_facts(tmp_path, "bcrypt is used")
    (path,) = (Path(project.environ["XDG_STATE_HOME"]) / "tori" / "memory").glob("*.sqlite3")
    path.write_bytes(b"no database " * 500)
    done = project.tori("memory", "list")
    assert done.returncode == 1
    assert b"is damaged" in done.stderr
    assert path.read_bytes() == b"no database " * 500


@pytest.mark.needs("redis-server")
def test_the_configuration_chooses_the_server_and_a_dead_one_is_told(tmp_path: Path) -> None:
    project = Project.make(tmp_path, says("hi"))
    config = Path(project.environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    config.parent.mkdir(parents=True)
    with running_redis() as server:
        config.write_text(f'[memory]\nurl = "{server.url}"\n')
        assert project.tori("memory", "list").stderr == b"Nothing is remembered of this project yet.\n"
    done = project.tori("memory", "list")
    assert done.returncode == 1
    assert b"cannot be used" in done.stderr
    assert b"Start the server" in done.stderr
