from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import mission, plan, result, said
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.domain.branch_events import BranchChanged
from tori_tui.domain.commands import AddComment
from tori_tui.domain.events import (
    CommentReceived,
    CommentRouted,
    DurableEvent,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.goals import Budget, Evidence
from tori_tui.domain.ids import MAIN_CONTEXT, BranchId, CallId, CommentId, GoalId
from tori_tui.domain.plan_edits import (
    EvidenceRecorded,
    GoalAbandoned,
    GoalAdded,
    GoalBudgetSet,
    GoalCompleted,
    GoalFocused,
    GoalPinned,
    PlanEdit,
)
from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage
from tori_tui.render.goal_details import goal_details
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.screens.goal_page import GoalPage

RED = "....F\nE   AssertionError: 403 != 200\n1 failed, 4 passed in 0.31s"


def added(number: str, title: str, parent: str | None = None, check: str | None = None) -> GoalAdded:
    return GoalAdded(GoalId(number), GoalId(parent) if parent else None, title, check)


def turn(number: int, goal: str, cost_usd: float | None = 0.03) -> TurnFinished:
    usage = Usage(31_000, 420, 28_000)
    return TurnFinished(number, MAIN_CONTEXT, GoalId(goal), "replay/x", "calls", usage, cost_usd, 0.4, 3.1)


ONE, CALL = BranchId("1"), CallId("x")

BRANCH = (
    BranchChanged(ONE, CALL, "planned", GoalId("2.2"), "compare in SQL", "implement"),
    BranchChanged(ONE, CALL, "started", trace="1"),
    BranchChanged(ONE, CALL, "turn", usage=Usage(9_000, 300), cost_usd=0.02),
    BranchChanged(
        ONE, CALL, "ended", outcome="finished", conclusion="SQL has no bcrypt here.", duration_s=41.0
    ),
)


def busy(*edits: PlanEdit) -> tuple[DurableEvent, ...]:
    """A goal that has everything."""
    return (
        RunStatusChanged("running", model="anthropic/claude-sonnet-5", mode="ask", cwd="/tmp/project"),
        mission("Implement user authentication"),
        said("Implement user authentication"),
        plan(
            added("1", "Analyse the code"),
            added("2", "Sessions in the database"),
            added("2.1", "Design the interface", "2"),
            added("2.2", "为登录端点写代码，密码用 bcrypt 比较", "2", "pytest -q tests/test_login.py"),
            added("2.2.1", "Compare with bcrypt", "2.2"),
            added("3", "Tests"),
            GoalCompleted(GoalId("1"), "The user model is in models/user.py"),
            GoalFocused(GoalId("2.1")),
            GoalCompleted(GoalId("2.1"), "one table, one cookie"),
            GoalFocused(GoalId("2.2")),
            GoalBudgetSet(GoalId("2.2"), Budget(turns=12, cost_usd=0.5)),
            GoalPinned(GoalId("2.2"), True),
        ),
        CommentReceived(CommentId("k1"), "use bcrypt, not argon2"),
        CommentRouted(CommentId("k1"), "current", "classifier", goal_ids=(GoalId("2.2"),)),
        CommentReceived(CommentId("k2"), "密码错误时返回 403", "goal:2.2"),
        *BRANCH,
        turn(1, "2.2"),
        result(
            "c4",
            "edited",
            name="edit_file",
            goal="2.2",
            duration_s=0.4,
            details={"changed_paths": ["app/login.py", "app/用户.py"]},
        ),
        turn(2, "2.2.1"),
        plan(EvidenceRecorded(GoalId("2.2"), Evidence("pytest -q tests/test_login.py", 1, RED, 2.1)), *edits),
    )


def told(state: SessionState, goal_id: str | None, running_s: float = 0.0) -> list[str]:
    details = goal_details(state, GoalId(goal_id) if goal_id else None, running_s)
    return [f"{detail.label}: {detail.text}" for detail in details]


@asynccontextmanager
async def open_page(*edits: PlanEdit, key: str = "i") -> AsyncIterator[tuple[Stage, Pilot[None], GoalPage]]:
    async with live(busy(*edits)) as (stage, pilot):
        stage.screen.goals.focus()
        await pilot.press(key)
        await pilot.pause()
        page = stage.app.screen
        assert isinstance(page, GoalPage)
        yield stage, pilot, page


async def test_the_page_of_a_goal_tells_all_that_is_known_and_goes_on_live() -> None:
    async with open_page() as (stage, pilot, page):
        lines = told(stage.session.state, "2.2")
        assert "Time: 6.6s of model and tools" in lines
        assert "Work: 2 turns, 1 call" in lines
        assert "Tokens: 71k in, 56k of it from the cache; 1.1k out" in lines
        assert "Cost: $0.08" in lines
        assert "Budget: 2 of 12 turns, $0.08 of $0.50" in lines
        assert "Check: pytest -q tests/test_login.py" in lines
        assert ": ◇! red, exit 1 in 2.1s" in lines
        assert f": {RED}" in lines
        assert "Files: app/login.py" in lines
        assert ": app/用户.py" in lines
        assert "Comments: use bcrypt, not argon2  → joined its work" in lines
        assert ": 密码错误时返回 403  → waits" in lines
        assert any("⑂ 1 finished" in line for line in lines)
        assert "pinned" in lines[0]
        assert "$0.08" in page.shown_text
        stage.session.emit(turn(3, "2.2"))
        await pilot.pause()
        assert "$0.11" in page.shown_text
        stage.clock.now_s += 5
        stage.screen.tick_plan()
        await pilot.pause()
        assert "14.7s of model and tools, going on" in page.shown_text


async def test_keys_of_the_page() -> None:
    async with open_page(key="space") as (stage, pilot, page):
        await pilot.press("right_square_bracket", "left_square_bracket", "left_square_bracket")
        assert "2.1 Design the interface" in str(page._box.border_title)
        stage.diffs["2.1"] = scenes.DIFF
        await pilot.press("d")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, DiffPage)
        await pilot.press("escape", "i", "c", *"why", "enter")
        await pilot.pause()
        assert stage.session.sent == [AddComment(CommentId("t1"), "why", "goal:2.2")]
        stage.screen.goals.focus()
        await pilot.press("i", "escape")
        assert stage.app.screen_stack[-1] == stage.screen


async def test_a_goal_that_ended_and_the_session_itself_have_pages_too() -> None:
    async with live(busy(GoalAbandoned(GoalId("3"), "no\x1b[31m time"))) as (stage, pilot):
        state = stage.session.state
        assert "Reason: no␛[31m time" in told(state, "3")
        assert "Result: The user model is in models/user.py" in told(state, "1")
        assert "Goals: 2 of 3 done" in told(state, None)
        assert "Cost: $0.08" in told(state, None)
        stage.session.emit(turn(4, "1", None))
        assert "Cost: not known: the model has no price" in told(stage.session.state, "1")
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        await pilot.press(*"all about the goal")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert isinstance(stage.app.screen, GoalPage)


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light-small"])
def test_how_the_page_of_a_goal_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*busy())
        await pilot.pause(0.1)
        stage.screen.goals.post_message(stage.screen.goals.DetailsWanted(GoalId("2.2")))
        await pilot.pause(0.2)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)


@pytest.mark.parametrize(("theme", "size"), [("light", WIDE), ("dark", SMALL)], ids=["light", "dark-small"])
def test_how_the_tree_looks_with_a_filter(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*busy())
        await pilot.pause(0.1)
        if size == SMALL:
            await pilot.press("ctrl+g")
        stage.screen.goals.focus()
        await pilot.press("slash", *"is:open 密码")
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
