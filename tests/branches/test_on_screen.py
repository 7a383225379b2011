from __future__ import annotations

import pytest

from tests.ui.fakes import mission, plan
from tests.ui.test_goal_tree import goal, lines, said, showing
from tests.ui.test_session_screen import live
from tori_tui.domain.branch_events import BranchChanged
from tori_tui.domain.commands import DecideApproval, InterruptRun, StopBranch
from tori_tui.domain.events import ApprovalChanged, PlanChanged, RunStatusChanged
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import ApprovalId, BranchId, CallId, GoalId, MissionId
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.domain.usage import Usage
from tori_tui.ui.slash import Commanded, read_slash

CALL = CallId("x")


def planned(number: str, direction: str, goal_id: str | None = None) -> BranchChanged:
    owner = GoalId(goal_id) if goal_id else None
    return BranchChanged(BranchId(number), CALL, "planned", goal_id=owner, direction=direction)


def began(number: str) -> BranchChanged:
    return BranchChanged(BranchId(number), CALL, "started", trace=number)


def turn(number: str) -> BranchChanged:
    return BranchChanged(BranchId(number), CALL, "turn", usage=Usage(10, 1), cost_usd=0.25)


def asked(number: int) -> ApprovalChanged:
    return ApprovalChanged(ApprovalId(f"p{number}"), CALL, "bash", f"[branch {number}] bash make", "asked")


async def test_branches_stand_under_their_goal_and_change_live() -> None:
    events = (plan(goal("1"), goal("2")), planned("1", "alpha way", "1"), planned("2", "beta way", "1"))
    async with showing(*events, began("1"), turn("1"), size=(60, 10)) as (app, pilot, session):
        assert said(lines(app)) == [
            "○ 1 goal 1",
            "  ⑂ 1 running · 1 turn · $0.25  alpha way",
            "  ⑂ 2 waiting  beta way",
            "○ 2 goal 2",
        ]
        ended = BranchChanged(
            BranchId("1"), CALL, "ended", outcome="finished", check="green", patch="p", added=3
        )
        session.emit(ended, began("2"))
        app.goals.show(session.state)
        await pilot.pause()
        assert "  ⑂ 1 finished · check green · +3 −0 · 1 turn · $0.25" in lines(app)[1]
        assert lines(app)[2] == "  ⑂ 2 running  beta way"


async def test_branches_without_a_plan_stand_under_the_mission() -> None:
    async with showing(planned("1", "alpha way")) as (app, _, session):
        assert said(lines(app))[0] == "⑂ 1 waiting  alpha way"
        session.emit(PlanChanged((MissionOpened(MissionId("m2"), "next"),), "user"))
        app.goals.show(session.state)
        assert not any("⑂" in line for line in lines(app))


async def test_approvals_of_branches_queue_and_are_answered_one_by_one() -> None:
    begun = (RunStatusChanged("running", cwd="/"), mission("m"))
    async with live([*begun, asked(1), asked(2)]) as (stage, pilot):
        bar = stage.screen.approvals
        assert bar.approval is not None
        assert bar.approval.title == "[branch 1] bash make"
        stage.clock.now_s += 1
        await pilot.press("y")
        await pilot.pause()
        decided = [c for c in stage.session.sent if isinstance(c, DecideApproval)]
        assert [(c.approval_id, c.allow) for c in decided] == [("p1", True)]
        stage.session.emit(ApprovalChanged(ApprovalId("p1"), CALL, "bash", "", "allowed"))
        await pilot.pause()
        assert bar.approval is not None
        assert bar.approval.title == "[branch 2] bash make"


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/stop 2", StopBranch(BranchId("2"))),
        ("/stop branch 2", StopBranch(BranchId("2"))),
        ("/stop", InterruptRun()),
    ],
)
def test_stop_takes_a_branch_or_everything(line: str, command: StopBranch | InterruptRun) -> None:
    assert read_slash(line, GoalTree()) == Commanded(command)
