from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trace.records import EVENTS, record, session, write_lines
from tori_tui.domain.events import DurableEvent, PlanChanged, Record
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import GoalId, TraceId
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalCompleted, PlanEdit
from tori_tui.domain.state import SessionState, reduce, reduce_all
from tori_tui.trace.projections import Projections, rebuild, write_projections
from tori_tui.trace.store import JsonlTraceStore

ID = TraceId("t1")


def of(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_bytes()))


def files(directory: Path) -> tuple[bytes, bytes]:
    return (directory / "goal.json").read_bytes(), (directory / "meta.json").read_bytes()


def test_goal_json_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    edits: tuple[PlanEdit, ...] = (
        GoalAdded(GoalId("1.1"), GoalId("1"), "Look", check="true"),
        GoalCompleted(GoalId("1.1"), "Seen", Evidence("true", 0, "ok", 0.5)),
        GoalAbandoned(GoalId("1"), "No use"),
        GoalAdded(GoalId("1'"), None, "Again", replaces=GoalId("1"), after_id=GoalId("1")),
    )
    write_projections(tmp_path, ID, reduce_all([*session(), record(PlanChanged(edits, "model"), 5)]))
    goal = of(tmp_path / "goal.json")
    assert list(goal) == ["missions", "mission", "current_id", "counters", "goals"]
    assert goal["missions"] == [
        {"id": "m1", "text": "Fix the parser", "check": None, "goal_ids": ["1", "1'"]}
    ]
    assert goal["goals"] == [
        {
            "id": "1",
            "description": "Find it",
            "status": "abandoned",
            "summary": "No use",
            "check": None,
            "evidence": None,
            "superseded_by": "1'",
            "pinned": False,
            "budget": None,
            "children": [
                {
                    "id": "1.1",
                    "description": "Look",
                    "status": "completed",
                    "summary": "Seen",
                    "check": "true",
                    "evidence": {"command": "true", "exit_code": 0, "tail": "ok", "duration_s": 0.5},
                    "superseded_by": None,
                    "pinned": False,
                    "budget": None,
                    "children": [],
                }
            ],
        },
        {
            "id": "1'",
            "description": "Again",
            "status": "pending",
            "summary": None,
            "check": None,
            "evidence": None,
            "superseded_by": None,
            "pinned": False,
            "budget": None,
            "children": [],
        },
    ]


def test_meta_json_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    write_projections(tmp_path, ID, reduce_all(session("x" * 300)))
    assert of(tmp_path / "meta.json") == {
        "id": "t1",
        "missions": [{"id": "m1", "text": "x" * 199 + "…"}],
        "created": "2026-01-01T00:00:00.000Z",
        "updated": "2026-01-01T00:00:03.000Z",
        "status": "done",
        "model": "openai/gpt",
        "cwd": "/src",
        "git_head": "abc",
        "usage": dict.fromkeys(
            ["input_tokens", "output_tokens", "cached_tokens", "cache_written_tokens", "reasoning_tokens"], 0
        ),
        "turns": 0,
        "cost": 0.0,
        "contexts": [{"id": "main", "agent": "build", "model": "openai/gpt"}],
        "parent": None,
        "format_version": 1,
    }


def test_the_files_are_closed_to_others_and_no_other_stays(tmp_path: Path) -> None:
    write_projections(tmp_path, ID, reduce_all(session()))
    assert {stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()} == {0o600}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["goal.json", "meta.json"]


def test_an_unchanged_file_is_not_written_again(tmp_path: Path) -> None:
    projections = Projections(tmp_path, ID)
    records = session()
    state = reduce_all(records)
    projections.write(state)
    (tmp_path / "goal.json").unlink()
    (tmp_path / "meta.json").unlink()
    projections.write(state)
    assert not list(tmp_path.iterdir())
    projections.write(reduce(state, record(records[2].event, 5)))
    assert [p.name for p in tmp_path.iterdir()] == ["meta.json"]


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "[/red]\x1b[31m"])
def test_no_text_stops_a_projection(tmp_path: Path, text: str) -> None:
    write_projections(tmp_path, ID, reduce_all(session(text)))
    assert "missions" in of(tmp_path / "goal.json")


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=12))
def test_rebuilt_files_equal_those_written_live(
    tmp_path_factory: pytest.TempPathFactory, events: list[DurableEvent]
) -> None:
    directory = tmp_path_factory.mktemp("live")
    state = SessionState()
    projections = Projections(directory, TraceId(directory.name))
    with JsonlTraceStore.open(directory) as store:
        for seq, event in enumerate(events, 1):
            each: Record = record(event, seq)
            store.append(each)
            state = reduce(state, each)
            projections.write(state)
        projections.write(state)
    live = files(directory)
    assert rebuild(directory) == state
    assert files(directory) == live


def test_projections_are_made_again_where_they_were_lost(tmp_path: Path) -> None:
    write_lines(tmp_path / "t1", session())
    assert rebuild(tmp_path / "t1").status == "done"
    assert of(tmp_path / "t1" / "meta.json")["id"] == "t1"
