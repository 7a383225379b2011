from __future__ import annotations

from tests.domain.trees import called, mission, worked_example
from tori_tui.domain.goal_call import reopen
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalCompleted, GoalPinned, apply_edits
from tori_tui.render.plan import plan_text


def test_whole_plan_is_shown() -> None:
    assert plan_text(worked_example()).plain.splitlines() == [
        "Mission: Implement user authentication",
        "[✓] 1. Analyse the code",
        "    → The user model is in models/user.py, bcrypt",
        "[✗] 2. Plan A  superseded by 2'",
        "    abandoned: needs Redis",
        "[→] 2'. Plan B",
        "    [✓] 2'.1 Design the interface",
        "        → Two routes, one table",
        "    [→] 2'.2 Login endpoint  ← current   [check: pytest -q tests/test_login.py]",
        "    [ ] 2'.3 Register endpoint",
        "[ ] 3. Tests",
        "Progress: 2/5 goals",
    ]


def test_no_goal_is_left_out_of_a_large_plan() -> None:
    tree = called(mission(), add=[f"goal {n}" for n in range(1, 401)])
    assert sum(line.startswith("[ ]") for line in plan_text(tree).plain.splitlines()) == 400


def test_evidence_pins_replacements_and_earlier_missions_are_shown() -> None:
    tree = called(mission("First"), add="A [check: make]", focus="1")
    tree = apply_edits(
        tree, [GoalCompleted(GoalId("1"), "ok", Evidence("make", 0)), GoalPinned(GoalId("1"), True)]
    )
    tree = apply_edits(tree, reopen(tree, GoalId("1")))
    shown = plan_text(called(mission("Second", tree), add="B")).plain
    assert "[✓] 1. A  pinned  superseded by 1'   [check: make]" in shown
    assert "    check: make → exit 0" in shown
    assert shown.index("Mission: First") < shown.index("Mission: Second")


def test_markup_and_escapes_are_shown_as_text() -> None:
    tree = called(mission("[/red] \x1b[2J"), add=["[bold]x[/bold]\x07"])
    shown = plan_text(tree).plain
    assert "[/red]" in shown
    assert "[bold]x[/bold]" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_session_without_a_mission_is_empty() -> None:
    assert plan_text(mission()).plain == "Mission: Implement user authentication"
