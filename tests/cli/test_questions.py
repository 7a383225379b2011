from __future__ import annotations

import pytest

from tori_tui.cli.questions import decide
from tori_tui.domain.commands import DecideApproval
from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.ids import ApprovalId, CallId

ASKED = ApprovalChanged(ApprovalId("a"), CallId("c"), "bash", "bash ls", "asked")


@pytest.mark.parametrize(
    ("line", "allow", "reason", "scope"),
    [
        ("y\n", True, "", "once"),
        ("Yes\n", True, "", "once"),
        ("g\n", True, "", "goal"),
        ("s\n", True, "", "session"),
        ("a\n", True, "", "always"),
        ("n\n", False, "denied by the user", "once"),
        ("n use the other file\n", False, "use the other file", "once"),
        ("\x04", False, "the input was closed", "once"),
    ],
)
def test_a_line_is_a_decision(line: str, allow: bool, reason: str, scope: str) -> None:
    decision = decide(ASKED, line)
    assert isinstance(decision, DecideApproval)
    assert (decision.allow, decision.reason, decision.scope) == (allow, reason, scope)


@pytest.mark.parametrize("line", ["\n", "   \n", "yep\n", "ny\n", "da\n", "\x1b[A\n"])
def test_anything_else_decides_nothing(line: str) -> None:
    assert decide(ASKED, line) is None
