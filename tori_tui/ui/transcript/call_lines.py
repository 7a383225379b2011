"""Tool calls to lines: a title with its facts, and below it what was asked and what came of it.

Must not keep anything, as all of the layout.
"""

from __future__ import annotations

from typing import Final

from rich.style import Style
from rich.text import Text

from tori_tui.render.amounts import shown_duration
from tori_tui.render.wording import diff_of, facts_of, title_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.blocks import CallBlock, CallState
from tori_tui.ui.transcript.diffs import DiffForm, diff_lines
from tori_tui.ui.transcript.lines import (
    GUTTER_CELLS,
    INDENT,
    PREVIEW_LIMIT_CHARS,
    PREVIEW_LINES,
    RESULT_LIMIT_LINES,
    bounded,
    cut_line,
    prefixed,
    shown,
    title_line,
    with_places,
    wrapped,
)
from tori_tui.ui.transcript.search_rows import SEARCHES, link_span
from tori_tui.ui.transcript.shell_blocks import USERS_COMMAND
from tori_tui.ui.transcript.shell_colors import ShellColors

_TAILED: Final = ("bash", USERS_COMMAND)
"""Of their output the end tells most."""


def call_lines(
    block: CallBlock,
    width: int,
    palette: Palette,
    *,
    is_unfolded: bool,
    now_s: float,
    diffs: DiffForm,
) -> list[Text]:
    """Return the lines of a call; see `block_lines`."""
    mark, style = _call_mark(block.state, palette, is_unfolded=is_unfolded)
    facts = facts_of(block)
    if block.state == "running" and block.started_s is not None:
        facts = shown_duration(max(0.0, now_s - block.started_s))
    name, _, rest = title_of(block).partition(" ")
    left = Text.assemble((f"{mark} ", style), (name, palette.strong), " ", rest)
    facts_style = palette.error if block.state in ("failed", "denied") else palette.muted
    lines = [title_line(left, Text(facts, facts_style), width)]
    if block.state == "writing":
        n_chars = len(block.arguments_raw or "")
        return [title_line(left, Text(f"writing, {n_chars:,} characters", palette.muted), width)]
    if is_unfolded:
        return lines + _body(block, width, palette, diffs)
    if block.state in ("failed", "running", "denied"):
        lines += _preview(block.output, width, palette)
    return lines


def _call_mark(state: CallState, palette: Palette, *, is_unfolded: bool) -> tuple[str, Style]:
    fold = "▾" if is_unfolded else "▸"
    match state:
        case "writing":
            return "✎", palette.muted
        case "waiting":
            return "○", palette.muted
        case "asked":
            return "?", palette.warning
        case "running":
            return "⟳", palette.accent
        case "done":
            return fold, palette.success
        case "failed":
            return "✗", palette.error
        case "denied":
            return "⊘", palette.error
        case "interrupted":
            return "■", palette.muted


def _preview(output: str, width: int, palette: Palette) -> list[Text]:
    tail = output.rstrip()[-PREVIEW_LIMIT_CHARS:]
    if not tail:
        return []
    kept = [line for line in tail.split("\n") if line.strip()][-PREVIEW_LINES:]
    rows = []
    for line in kept:
        row = Text(shown(line), palette.muted)
        row.truncate(width - GUTTER_CELLS - 2, overflow="ellipsis")
        rows.append(row)
    bar = Text("  │ ", palette.border)
    return prefixed(rows, bar, bar)


def _body(block: CallBlock, width: int, palette: Palette, diffs: DiffForm) -> list[Text]:
    if diff := diff_of(block):
        kept, n_left_out = bounded(diff, RESULT_LIMIT_LINES)
        lines = diff_lines(kept, width - GUTTER_CELLS, palette, form=diffs)
        if n_left_out:
            lines.append(_more(n_left_out, palette))
        return prefixed(lines, INDENT, INDENT)
    inner = width - GUTTER_CELLS - 2
    lines = _asked(block, inner, palette)
    if block.output.rstrip("\n"):
        lines += _output(block, inner, palette)
    elif not lines:
        lines.append(Text("no output", palette.muted))
    if block.full:
        lines.append(Text(f"whole: outputs/{block.full.removeprefix('outputs/')}", palette.muted))
    bar = Text("  │ ", palette.border)
    return prefixed(lines, bar, bar)


def _asked(block: CallBlock, width: int, palette: Palette) -> list[Text]:
    """Return what the call's title could not hold of it."""
    command = block.arguments.get("command")
    if isinstance(command, str) and ("\n" in command or len(command) > width):
        kept, _ = bounded(command, RESULT_LIMIT_LINES)
        lines = wrapped(Text(shown(kept), palette.code), width - 2)
        return prefixed(lines, Text("$ ", palette.muted), INDENT)
    if block.arguments_raw is not None:
        kept, _ = bounded(block.arguments_raw, RESULT_LIMIT_LINES)
        return wrapped(Text(shown(kept), palette.code), width)
    return []


def _output(block: CallBlock, width: int, palette: Palette) -> list[Text]:
    output = block.output.rstrip("\n")
    lines = output.split("\n")
    n_left_out = max(0, len(lines) - RESULT_LIMIT_LINES)
    is_tail = block.name.startswith(_TAILED)
    first = n_left_out if is_tail else 0
    start = sum(len(line) + 1 for line in lines[:first])
    colors = ShellColors(block.details, palette)
    rows: list[Text] = []
    for line in lines[first : first + RESULT_LIMIT_LINES]:
        kept = cut_line(line)
        row = colors.line(kept, start)
        rows += wrapped(_with_links(row, block.name, palette), width)
        start += len(line) + 1
    note = [_more(n_left_out, palette)] if n_left_out else []
    return note + rows if is_tail else rows + note


def _with_links(row: Text, tool: str, palette: Palette) -> Text:
    """Return a line of output with what a click opens underlined."""
    if tool in SEARCHES:
        row.stylize(palette.link, *link_span(row.plain, tool))
        return row
    return with_places(row)


def _more(n_lines: int, palette: Palette) -> Text:
    return Text(f"… {n_lines:,} more lines", palette.muted)


__all__ = ["call_lines"]
