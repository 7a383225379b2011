from __future__ import annotations

from dataclasses import replace

import pytest

from tori_tui.cli.one_shot import exit_code
from tori_tui.domain.events import ApprovalChanged, RunCause, RunStatus
from tori_tui.domain.ids import ApprovalId, CallId, MissionId
from tori_tui.domain.plan_edits import MissionOpened, apply_edit
from tori_tui.domain.state import SessionState

DENIED = (ApprovalChanged(ApprovalId("a"), CallId("c"), "bash", "bash rm x", "denied"),)


@pytest.mark.parametrize(
    ("status", "cause", "code"),
    [
        ("done", "", 0),
        ("failed", "abort", 1),
        ("failed", "runner", 1),
        ("failed", "provider", 5),
        ("incomplete", "goals_open", 3),
        ("incomplete", "check_red", 3),
        ("limit", "limit", 4),
        ("interrupted", "user", 130),
    ],
)
def test_each_end_has_its_code(status: RunStatus, cause: RunCause, code: int) -> None:
    state = SessionState(status=status, cause=cause)
    assert exit_code(state, (), has_user=False) == code


def test_what_nobody_could_approve_is_no_success() -> None:
    assert exit_code(SessionState(status="done"), DENIED, has_user=False) == 3


def test_what_the_user_denied_was_a_decision() -> None:
    assert exit_code(SessionState(status="done"), DENIED, has_user=True) == 0


def test_a_green_check_outweighs_a_denied_call() -> None:
    state = SessionState(status="done")
    tree = apply_edit(state.tree, MissionOpened(MissionId("m1"), "x", check="true"))
    assert exit_code(replace(state, tree=tree), DENIED, has_user=False) == 0
