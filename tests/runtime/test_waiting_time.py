from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.session import MODEL, driven, reply
from tori_tui.bootstrap import SessionOptions
from tori_tui.domain.commands import AnswerQuestion, Command, DecideApproval, EditPlan, SubmitPrompt
from tori_tui.domain.events import ApprovalChanged, QuestionAsked, RunStatusChanged
from tori_tui.domain.goals import Budget
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalBudgetSet

WAIT_S = 1_000.0

ASKS = {
    "approval": reply("", write_file={"path": "a.txt", "content": "a"}),
    "question": reply("", ask_user={"question": "Which one?", "options": ["a", "b"]}),
    "check": reply("", goal={"done": "it is done"}),
}


@pytest.mark.parametrize("kind", ASKS)
async def test_time_in_which_the_user_is_waited_for_is_no_time_of_the_goal(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "project"
    place.mkdir()
    clock = FakeClock()
    options = SessionOptions(cwd=place, model=MODEL, mode="ask", has_user=True)
    script = [
        reply("", goal={"add": "Write [check: touch b.txt]", "focus": "1"}),
        ASKS[kind],
        reply("Done."),
        reply("Done."),
    ]
    async with driven(script, place, options=options, wrap_clock=lambda _: clock.as_clock()) as driver:
        driver.session.send(SubmitPrompt("go"))
        driver.session.send(EditPlan((GoalBudgetSet(GoalId("1"), Budget(seconds=90.0)),)))
        while driver.session.state.status != "waiting":
            await driver.next()
        answer: Command
        if kind == "question":
            asked = await driver.until(QuestionAsked)
            assert isinstance(asked, QuestionAsked)
            answer = AnswerQuestion(asked.question_id, "a")
        else:
            approval = next(event for event in driver.events if isinstance(event, ApprovalChanged))
            answer = DecideApproval(approval.approval_id, allow=True)
        clock.advance(WAIT_S)
        driver.session.send(answer)
        while driver.session.state.status == "waiting":
            await driver.until(RunStatusChanged)
        state = driver.session.state
        while state.status in ("running", "waiting"):
            item = await driver.next()
            state = driver.session.state
            for waiting in driver.session.state.approvals.values():
                driver.session.send(DecideApproval(waiting.approval_id, allow=True))
            assert item is not None
    assert state.stats_of(GoalId("1")).duration_s < WAIT_S / 2
    goal = state.tree.find(GoalId("1"))
    assert goal is not None
    assert goal.status != "abandoned"
