"""What an explore call comes to, for the model: a table, then each branch's conclusion.

Pure: it depends on the session's state and the call alone, so that a call that was cut off or resumed
gets the same result. Must not judge which branch is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tori_tui.domain.branches import Branch, branches_of_call
from tori_tui.domain.ids import BranchId, CallId
from tori_tui.domain.plan_text import one_line
from tori_tui.tools.base import ToolOutput

OVER_THE_CAP: Final = "over the cap"

CONCLUSION_LIMIT_CHARS: Final = 8_000
"""About 2,000 tokens: eight of them still leave room; the whole stands in the branch's trace."""


def explored(
    branches: Mapping[BranchId, Branch], call_id: CallId, over: Sequence[str] = (), cut: str = ""
) -> ToolOutput:
    """Return the result of a call.

    Args:
        branches: Of the session.
        call_id: The call.
        over: Directions that were not taken because there were too many.
        cut: Why the call was cut off; empty where it was not.
    """
    mine = branches_of_call(branches, call_id)
    parts = [f"Cut off: {cut}." if cut else "", _table(mine, over)]
    parts += [_told(branch, cut) for branch in mine]
    if any(branch.end is not None and branch.end.patch for branch in mine):
        parts.append("`adopt` takes one branch's change into the work tree.")
    facts = [{"id": b.id, "outcome": b.state, "turns": b.n_turns, "cost_usd": b.cost_usd} for b in mine]
    return ToolOutput(
        "\n\n".join(part for part in parts if part),
        is_error=bool(cut) or not any(b.end is not None and b.end.outcome == "finished" for b in mine),
        details={"branches": facts, "n_over": len(over)},
    )


def _table(branches: Sequence[Branch], over: Sequence[str]) -> str:
    is_checked = any(branch.end is not None and branch.end.check for branch in branches)
    is_implemented = any(branch.mode == "implement" for branch in branches)
    head = ["branch", "outcome", *(["check"] if is_checked else []), *(["changes"] if is_implemented else [])]
    rows = [[*head, "turns", "cost", "direction"]]
    for branch in branches:
        end = branch.end
        check = [end.check if end is not None and end.check else "not run"] if is_checked else []
        changes = [_changes(branch)] if is_implemented else []
        facts = [str(branch.n_turns), _cost(branch), one_line(branch.direction, 80)]
        rows.append([branch.id, _state(branch), *check, *changes, *facts])
    blanks = [""] * (len(rows[0]) - 3)
    rows += [["–", OVER_THE_CAP, *blanks, one_line(direction, 80)] for direction in over]
    return "\n".join(" | ".join(row) for row in rows)


def _state(branch: Branch) -> str:
    return "interrupted" if branch.end is None else branch.end.outcome


def _changes(branch: Branch) -> str:
    end = branch.end
    if end is None or not end.patch:
        return "none"
    n_files = len(end.changed_paths)
    return f"{n_files} file{'s' if n_files != 1 else ''} +{end.added} −{end.removed}"


def _cost(branch: Branch) -> str:
    return f"${branch.cost_usd:.3f}" if branch.is_priced and branch.n_turns else "–"


def _told(branch: Branch, cut: str) -> str:
    end = branch.end
    if end is None:
        why = cut or "it did not end"
        return f"## Branch {branch.id}\n({'interrupted' if branch.trace else 'not started'}: {why})"
    lines = [f"## Branch {branch.id}"]
    if end.reason:
        lines.append(f"({end.outcome}: {end.reason})")
    if branch.is_adopted:
        lines.append("(adopted)")
    lines += _bounded(end.conclusion, branch)
    if end.changed_paths:
        lines.append(f"Changed: {_listed(end.changed_paths)}")
    return "\n".join(lines)


def _bounded(text: str, branch: Branch) -> Iterator[str]:
    if not text.strip():
        yield (
            "It found nothing that it wrote down." if branch.end and branch.end.outcome != "finished" else ""
        )
        return
    yield text[:CONCLUSION_LIMIT_CHARS]
    if len(text) > CONCLUSION_LIMIT_CHARS:
        left_out = len(text) - CONCLUSION_LIMIT_CHARS
        yield f"[… {left_out:,} characters left out; whole in the trace branches/{branch.trace}]"


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 20} more" if len(paths) > 20 else ""
    return ", ".join(paths[:20]) + more


__all__ = ["OVER_THE_CAP", "explored"]
