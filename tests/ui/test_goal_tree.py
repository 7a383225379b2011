from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.ui.fakes import FakeClock, FakeSession, mission, plan, result
from tests.ui.test_transcript import PALETTE
from tori_tui.domain.events import DurableEvent, RunStatusChanged, TurnFinished
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId
from tori_tui.domain.plan_edits import (
    EvidenceRecorded,
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    GoalRenamed,
)
from tori_tui.domain.usage import Usage
from tori_tui.ui.widgets.goal_tree import GoalTree


def goal(number: str, parent: str | None = None, *, check: str | None = None) -> GoalAdded:
    return GoalAdded(GoalId(number), GoalId(parent) if parent else None, f"goal {number}", check)


class OneTree(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.goals = GoalTree(PALETTE, clock=self.clock)
        self.messages: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.goals

    def on_mount(self) -> None:
        self.goals.focus()

    def on_goal_tree_jumped(self, message: GoalTree.Jumped) -> None:
        self.messages.append(message.goal_id)


@asynccontextmanager
async def showing(
    *events: DurableEvent, size: tuple[int, int] = (40, 10)
) -> AsyncIterator[tuple[OneTree, Pilot[None], FakeSession]]:
    session = FakeSession([RunStatusChanged("running", cwd="/"), mission("m"), *events])
    app = OneTree()
    async with app.run_test(size=size) as pilot:
        app.goals.show(session.state)
        await pilot.pause()
        yield app, pilot, session


def lines(app: OneTree) -> list[str]:
    return [app.goals.render_line(y).text.rstrip() for y in range(app.goals.size.height)]


def said(rows: Iterable[str]) -> list[str]:
    return [row for row in rows if row]


async def test_states_checks_and_replacements_have_marks_of_their_own() -> None:
    events = plan(
        goal("1"),
        goal("2", check="pytest"),
        goal("3"),
        GoalFocused(GoalId("1")),
        GoalCompleted(GoalId("1"), "ok"),
        GoalCompleted(GoalId("2"), "ok", Evidence("pytest", 0)),
        GoalAbandoned(GoalId("3"), "no"),
        GoalAdded(GoalId("3'"), None, "goal 3'", "true", after_id=GoalId("3"), replaces=GoalId("3")),
        GoalFocused(GoalId("3'")),
    )
    async with showing(events) as (app, _, _):
        rows = said(lines(app))
        assert [row.split()[0] for row in rows] == ["✓", "✓", "✗", "▶"]
        assert rows[1].endswith("◆")
        assert "◇" in rows[3]


async def test_five_hundred_updates_keep_cursor_collapse_and_place() -> None:
    goals = plan(*(goal(str(n)) for n in range(1, 40)), goal("20.1", "20"), GoalFocused(GoalId("1")))
    async with showing(goals) as (app, pilot, session):
        await pilot.press(*["down"] * 19, "left")
        assert app.goals.cursor == "20"
        before = lines(app)
        for n in range(500):
            session.emit(plan(GoalRenamed(GoalId("39"), f"renamed {n}")))
            app.goals.show(session.state)
        await pilot.pause()
        assert app.goals.cursor == "20"
        assert lines(app) == before
        assert not any("20.1" in row for row in before)


async def test_the_cursor_goes_along_with_the_focus_until_it_is_moved() -> None:
    async with showing(plan(goal("1"), goal("2"), GoalFocused(GoalId("1")))) as (app, pilot, session):
        assert app.goals.cursor == "1"
        session.emit(plan(GoalCompleted(GoalId("1"), "ok"), GoalFocused(GoalId("2"))))
        app.goals.show(session.state)
        assert app.goals.cursor == "2"
        await pilot.press("up")
        session.emit(plan(GoalCompleted(GoalId("2"), "ok"), GoalFocused(None)))
        app.goals.show(session.state)
        assert app.goals.cursor == "1"


async def test_collapse_and_expand_and_to_the_parent() -> None:
    async with showing(plan(goal("1"), goal("1.1", "1"), goal("1.1.1", "1.1"), GoalFocused(GoalId("1")))) as (
        app,
        pilot,
        _,
    ):
        await pilot.press("left")
        assert len(said(lines(app))) == 1
        assert "+2" in lines(app)[0]
        await pilot.press("right", "down", "down", "left")
        assert app.goals.cursor == "1.1"


def took(number: str, seconds: float) -> TurnFinished:
    usage = Usage(1_000, 100)
    return TurnFinished(1, MAIN_CONTEXT, GoalId(number), "x", "calls", usage, 0.25, 0.1, seconds)


async def test_the_focused_goal_shows_its_time_running() -> None:
    async with showing(plan(goal("1"), GoalFocused(GoalId("1")))) as (app, _, _):
        app.clock.now_s += 12
        assert lines(app)[0].endswith("⟳ 12.0s")


async def test_times_go_on_from_what_was_measured_and_run_for_the_goals_above_too() -> None:
    goals = plan(goal("1"), goal("1.1", "1"), GoalFocused(GoalId("1.1")))
    async with showing(goals) as (app, _, session):
        app.clock.now_s += 4
        session.emit(took("1.1", 3.5))
        app.goals.show(session.state)
        assert lines(app)[1].endswith("⟳ 3.5s")
        app.clock.now_s += 2
        assert lines(app)[0].endswith(" 5.5s")
        assert lines(app)[1].endswith("⟳ 5.5s")
        session.emit(RunStatusChanged("waiting"))
        app.goals.show(session.state)
        app.clock.now_s += 60
        assert lines(app)[1].startswith("  ? 1.1")
        assert lines(app)[1].endswith(" 3.5s")
        session.emit(RunStatusChanged("interrupted"))
        app.goals.show(session.state)
        assert lines(app)[1].startswith("  ■ 1.1")


async def test_a_red_check_has_a_mark_and_a_goal_done_anew_says_where() -> None:
    events = plan(
        goal("1", check="pytest"),
        EvidenceRecorded(GoalId("1"), Evidence("pytest", 1)),
        goal("2"),
        GoalCompleted(GoalId("2"), "ok"),
        GoalAdded(GoalId("2'"), None, "goal 2'", after_id=GoalId("2"), replaces=GoalId("2")),
    )
    async with showing(events) as (app, _, _):
        assert lines(app)[0].endswith(" ◇!")
        assert lines(app)[1].endswith(" → 2'")


async def test_where_there_is_room_a_line_says_files_tokens_and_money_of_all_below_it() -> None:
    goals = plan(goal("1"), goal("1.1", "1"), GoalFocused(GoalId("1.1")))
    edited = result("c", "ok", goal="1.1", details={"changed_paths": ["a.py", "b.py"]})
    async with showing(goals, took("1", 1.0), took("1.1", 65.0), edited, size=(80, 10)) as (app, _, _):
        assert lines(app)[0].split()[4:] == ["2", "files", "2.2k", "$0.50", "1m06s"]
        assert lines(app)[1].split()[4:] == ["2", "files", "1.1k", "$0.25", "⟳", "1m05s"]


async def test_earlier_missions_are_a_line_each_and_no_plan_says_so() -> None:
    async with showing(plan(goal("1")), mission("the second one", "m2")) as (app, _, _):
        assert said(lines(app)) == ["▪ m (1 goal)", "no plan: straight to work"]


async def test_a_description_from_outside_steers_nothing() -> None:
    edit = replace(goal("1"), description="\x1b[31m[/red]\u202e two\nlines")
    async with showing(plan(edit)) as (app, _, _):
        (row,) = said(lines(app))
        assert "\x1b" not in row
        assert "\u202e" not in row
        assert "[/red]" in row


async def test_a_click_moves_the_cursor_and_two_jump() -> None:
    async with showing(plan(goal("1"), goal("2"), GoalFocused(GoalId("1")))) as (app, pilot, _):
        await pilot.click(app.goals, offset=(5, 1))
        assert app.goals.cursor == "2"
        await pilot.click(app.goals, offset=(5, 1), times=2)
        await pilot.pause()
        assert app.messages == [GoalId("2")]
