"""A question for permission as lines: the whole command or diff, why it is asked, what a rule would allow.

Must not leave out a character that counts: the user answers for all of them.
"""

from __future__ import annotations

from typing import Final

from rich.cells import chop_cells
from rich.text import Text

from tori_tui.domain.events import ApprovalChanged
from tori_tui.render.diff import looks_like_diff
from tori_tui.render.safe_text import one_line
from tori_tui.render.unmasked_text import unmasked
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.code import highlighted
from tori_tui.ui.transcript.diffs import DiffForm, diff_lines
from tori_tui.ui.transcript.lines import shown, wrapped

DETAIL_LIMIT_LINES: Final = 20_000

DETAIL_LIMIT_CHARS: Final = 1_000_000
"""A command is no longer than the system allows, and a diff of that size is read elsewhere."""

LONG_LINE_CHARS: Final = 2_000
"""Longer lines are cut up by a quicker way than words."""

TOLD_ROWS: Final = 5
"""Why it is asked and the rules stand below what is scrolled, if they need no more rows."""

WORDS_BEHIND: Final = "\n\n(runs"
"""How what is told of a command begins, below its text."""


def question_lines(
    approval: ApprovalChanged, width: int, palette: Palette, *, form: DiffForm, has_goal: bool
) -> tuple[list[Text], list[Text]]:
    """Return what is scrolled, and what stands below it in any case.

    Args:
        approval: The question.
        width: In cells.
        palette: The styles.
        form: Of a diff.
        has_goal: There is a goal that an answer can hold for.
    """
    detail = _detail(approval, width, palette, form)
    told = _told(approval, width, palette, has_goal=has_goal)
    return (detail, told) if len(told) <= TOLD_ROWS else ([*detail, *told], [])


def _told(approval: ApprovalChanged, width: int, palette: Palette, *, has_goal: bool) -> list[Text]:
    """Say why it is asked, and which rule an answer for longer makes."""
    lines = [one_line(approval.reason, 400)] if approval.reason else []
    longer = "goal, session, always allow exactly" if has_goal else "session, always allow exactly"
    lines += [f"{longer}: {unmasked(rule)}" for rule in approval.rules]
    return [part for line in lines for part in _folded(Text(line, palette.muted), width)]


def _detail(approval: ApprovalChanged, width: int, palette: Palette, form: DiffForm) -> list[Text]:
    if not approval.detail:
        return []
    detail, n_left_out = _whole(unmasked(approval.detail))
    # A command may hold a diff and more: of a diff only what belongs to it is shown.
    if not _is_shell(approval.tool) and looks_like_diff(detail):
        lines = diff_lines(detail, width, palette, form=form)
    else:
        lines = _command(detail, width, palette, approval.tool)
    if n_left_out:
        lines.append(Text(f"… {n_left_out:,} more lines", palette.warning))
    return lines


def _command(detail: str, width: int, palette: Palette, tool: str) -> list[Text]:
    """Return a command in its colours, and the words behind it as words."""
    is_shell = _is_shell(tool)
    command, gap, told = detail.rpartition(WORDS_BEHIND) if is_shell else (detail, "", "")
    code, words = (command, gap + told) if gap else (detail, "")
    lines = highlighted(shown(code), "bash" if is_shell else "", palette)
    lines += [Text(line, palette.muted) for line in shown(words).split("\n")[1:]]
    return [part for line in lines for part in _folded(line, width)]


def _whole(detail: str) -> tuple[str, int]:
    """Return a command or diff with all of its characters, and how many lines are left out of a huge one."""
    lines = detail[:DETAIL_LIMIT_CHARS].split("\n")[:DETAIL_LIMIT_LINES]
    return "\n".join(lines), detail.count("\n") + 1 - len(lines) + (len(detail) > DETAIL_LIMIT_CHARS)


def _folded(line: Text, width: int) -> list[Text]:
    if len(line) <= LONG_LINE_CHARS:
        return wrapped(line, width)
    lines = shown(line.plain).split("\n")
    return [Text(part, line.style) for one in lines for part in chop_cells(one, max(2, width)) or [""]]


def _is_shell(tool: str) -> bool:
    return tool.startswith("bash")


__all__ = ["question_lines"]
