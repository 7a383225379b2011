from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui.apps import Stage
from tests.ui.fakes import mission, plan
from tests.ui.test_session_screen import live
from tori_tui.domain.commands import InterruptRun
from tori_tui.domain.events import DurableEvent, RunStatusChanged
from tori_tui.domain.goals import Evidence, Goal
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import (
    EvidenceRecorded,
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
)
from tori_tui.ui.goal_filter import hits, read_filter


def added(number: str, title: str, parent: str | None = None) -> GoalAdded:
    return GoalAdded(GoalId(number), GoalId(parent) if parent else None, title)


PLAN: tuple[DurableEvent, ...] = (
    RunStatusChanged("running", model="replay/x", mode="ask", cwd="/tmp"),
    mission("Implement user authentication"),
    plan(
        added("1", "Analyse the code"),
        added("2", "Endpoints"),
        added("2.1", "Login endpoint", "2"),
        added("2.2", "Register endpoint", "2"),
        added("2.3", "为登录写一个测试", "2"),
        added("3", "Write tests"),
        GoalCompleted(GoalId("1"), "ok"),
        GoalFocused(GoalId("2.1")),
        EvidenceRecorded(GoalId("2.1"), Evidence("pytest", 1)),
        GoalAbandoned(GoalId("3"), "no"),
    ),
)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("endpoint", {"2", "2.1", "2.2"}),
        ("LOGIN", {"2.1"}),
        ("登录", {"2.3"}),
        ("rgstr", {"2.2"}),
        ("2.2", {"2.2"}),
        ("is:open", {"2", "2.1", "2.2", "2.3"}),
        ("is:failed", {"2.1", "3"}),
        ("is:done is:red", {"1", "2.1"}),
        ("is:o endpoint", {"2", "2.1", "2.2"}),
        ("is:nothing", set()),
        ("nowhere at all", set()),
        ("", {"1", "2", "2.1", "2.2", "2.3", "3"}),
    ],
)
async def test_what_a_filter_finds(typed: str, found: set[str]) -> None:
    goals = (
        Goal(GoalId("1"), "Analyse the code", "completed"),
        Goal(GoalId("2"), "Endpoints", "in_progress"),
        Goal(GoalId("2.1"), "Login endpoint", "in_progress", evidence=Evidence("pytest", 1)),
        Goal(GoalId("2.2"), "Register endpoint"),
        Goal(GoalId("2.3"), "为登录写一个测试"),
        Goal(GoalId("3"), "Write tests", "abandoned"),
    )
    assert hits(goals, read_filter(typed)) == found


def rows(stage: Stage) -> list[tuple[str, bool]]:
    return [(row.goal.id, row.is_hit) for row in stage.screen.goals.rows if row.goal]


async def begun(stage: Stage, pilot: Pilot[None], *keys: str) -> None:
    stage.screen.goals.focus()
    await pilot.press("slash", *keys)
    await pilot.pause()


async def test_a_filter_leaves_hits_with_those_above_them_until_escape() -> None:
    async with live(PLAN) as (stage, pilot):
        await begun(stage, pilot, *"login")
        assert rows(stage) == [("2", False), ("2.1", True)]
        assert "1 goal" in str(stage.screen.goal_filter.query_one(".told").render())
        await pilot.press("enter")
        await pilot.pause()
        goals = stage.screen.goals
        assert not stage.screen.goal_filter.display
        assert (stage.screen.focused, goals.cursor) == (goals, "2.1")
        assert "login" in str(goals.border_title)
        await pilot.press("escape")
        await pilot.pause()
        assert len(rows(stage)) == 6
        assert stage.session.sent == []
        await pilot.press("escape")
        assert stage.session.sent == [InterruptRun()]


async def test_the_filters_bar_is_gone_when_the_user_goes_on_elsewhere() -> None:
    async with live(PLAN) as (stage, pilot):
        await begun(stage, pilot, *"login")
        await pilot.press("f6")
        await pilot.pause()
        assert not stage.screen.goal_filter.display
        assert "login" in str(stage.screen.goals.border_title)


async def test_escape_in_the_filter_shows_all_goals_and_arrows_move_the_cursor() -> None:
    async with live(PLAN, size=(80, 24)) as (stage, pilot):
        await pilot.press("ctrl+g")
        await begun(stage, pilot, *"is:open", "down", "down")
        assert stage.screen.goals.cursor == "2.3"
        await pilot.press("escape")
        await pilot.pause()
        assert len(rows(stage)) == 6
        assert stage.screen.focused is stage.screen.goals
        assert stage.session.sent == []


async def test_a_filter_holds_while_the_plan_changes() -> None:
    async with live(PLAN) as (stage, pilot):
        await begun(stage, pilot, *"is:pending", "enter")
        assert rows(stage) == [("2", False), ("2.2", True), ("2.3", True)]
        stage.session.emit(plan(GoalFocused(GoalId("2.2"))))
        await pilot.pause()
        assert rows(stage) == [("2", False), ("2.3", True)]
