from __future__ import annotations

from rich.cells import cell_len

from tests.ui.test_diffs import PALETTE
from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.ids import ApprovalId, CallId
from tori_tui.ui.transcript.question import question_lines


def test_no_line_of_a_question_holds_a_line_break_however_long_it_is() -> None:
    """A rule of many long lines is cut up by the quicker way, which knows no words."""
    command = (
        "for i in " + " ".join(f"word{n}" for n in range(400)) + "; do\n" + "touch 字x\n\n" * 40 + "done"
    )
    rules = (f"bash({command})",)
    asked = ApprovalChanged(ApprovalId("a1"), CallId("c1"), "bash", "bash for", "asked", command, rules=rules)
    detail, below = question_lines(asked, 60, PALETTE, form="auto", has_goal=True)
    lines = [line.plain for line in (*detail, *below)]
    assert not [line for line in lines if "\n" in line or "\r" in line]
    assert max(map(cell_len, lines)) <= 60
    assert "".join(lines).count("touch") == 80
