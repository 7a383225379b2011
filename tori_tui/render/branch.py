"""A branch as one line: its mark, number, how it stands, what it took, its direction.

Must not need the branch's own trace.
"""

from __future__ import annotations

from typing import Final

from tori_tui.domain.branches import Branch
from tori_tui.render.amounts import counted, shown_cost
from tori_tui.render.safe_text import one_line

MARK: Final = "⑂"

DIRECTION_LIMIT_CHARS: Final = 200


def branch_line(branch: Branch, *, is_lost: bool = False) -> str:
    """Return the line; `is_lost` where a rewind went back to before the branch."""
    end = branch.end
    facts = [branch.state]
    if end is not None and end.check:
        facts.append(f"check {end.check}")
    if end is not None and end.patch:
        facts.append(f"+{end.added} −{end.removed}")
    if branch.n_turns:
        facts.append(counted(branch.n_turns, "turn"))
        if branch.cost_usd:
            facts.append(shown_cost(branch.cost_usd, is_partial=not branch.is_priced))
    facts += ["adopted"] * branch.is_adopted + ["taken back"] * is_lost
    return f"{MARK} {branch.id} {' · '.join(facts)}  {one_line(branch.direction, DIRECTION_LIMIT_CHARS)}"


__all__ = ["MARK", "branch_line"]
