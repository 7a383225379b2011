"""Blocks to lines: what each kind looks like, folded and unfolded.

Must not keep anything; the transcript caches what comes out.
"""

from __future__ import annotations

from typing import Final, assert_never

from rich.style import Style
from rich.text import Text

from tori_tui.render.amounts import counted
from tori_tui.render.safe_text import one_line
from tori_tui.render.wording import diff_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CheckpointBlock,
    CommentBlock,
    DiffBlock,
    FileBlock,
    FoldBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.call_lines import call_lines
from tori_tui.ui.transcript.diffs import DiffForm, diff_lines
from tori_tui.ui.transcript.file_lines import file_lines
from tori_tui.ui.transcript.lines import (
    GUTTER_CELLS,
    INDENT,
    PREVIEW_LIMIT_CHARS,
    PREVIEW_LINES,
    RESULT_LIMIT_LINES,
    bounded,
    prefixed,
    shown,
    title_line,
    with_places,
    wrapped,
)
from tori_tui.ui.transcript.markdown import markdown_lines, pieces_of
from tori_tui.ui.transcript.shell_blocks import USERS_COMMAND

ANSWER_LIMIT_LINES: Final = 3_000
ANSWER_LIMIT_CHARS: Final = 200_000
"""Of an answer: some 50,000 tokens, more than a model writes at once."""

DIFF_LIMIT_LINES: Final = 20_000
WORDS_LIMIT_LINES: Final = 12
"""Of a prompt or comment that is not unfolded: a paste must not push everything away."""

MIN_COMMENT_CELLS: Final = 20
"""Less is not left of a comment's lines for what came of it; that stands below them then."""

NOTE_LIMIT_CHARS: Final = 300

DIFF_UNFOLDED_LINES: Final = 40
"""A diff up to this length is shown at once."""

_RUN_MARKS: Final = {"done": "✓", "failed": "✗", "interrupted": "■", "incomplete": "◐", "limit": "⊘"}


def can_fold(block: Block) -> bool:
    """Say whether a block has more to show than its folded form."""
    match block:
        case ThinkingBlock():
            return bool(block.text.strip()) and not block.is_streaming
        case CallBlock():
            return block.state != "writing"
        case FoldBlock():
            return True
        case PromptBlock() | CommentBlock() | NoticeBlock():
            return block.text.count("\n") >= WORDS_LIMIT_LINES
        case _:
            return False


def can_mark(block: Block) -> bool:
    """Say whether there is something that a key can do with a block."""
    return not isinstance(block, (GoalBlock, RetryBlock, RunBlock))


def starts_unfolded(block: Block) -> bool:
    """Say whether a block is shown whole before anybody folds it."""
    if not isinstance(block, CallBlock) or block.state != "done":
        return False
    if block.name.startswith(USERS_COMMAND):
        return block.output.count("\n") <= DIFF_UNFOLDED_LINES
    diff = diff_of(block)
    return bool(diff) and diff.count("\n") <= DIFF_UNFOLDED_LINES


def block_lines(
    block: Block,
    width: int,
    palette: Palette,
    *,
    is_unfolded: bool,
    now_s: float = 0.0,
    diffs: DiffForm = "auto",
) -> list[Text]:
    """Return the lines of a block, the blank one above it included.

    Args:
        block: What to show.
        width: Cells of a line.
        palette: Styles.
        is_unfolded: Whether it is shown whole.
        now_s: The screen's own clock, for a call that runs.
        diffs: How diffs are shown.
    """
    match block:
        case PromptBlock():
            return [
                Text(),
                *_words(block.text, width, palette, is_unfolded=is_unfolded, ground=palette.panel),
            ]
        case CommentBlock():
            return [Text(), *_comment(block, width, palette, is_unfolded=is_unfolded)]
        case AnswerBlock():
            lines = [Text()]
            for piece in answer_pieces(block):
                lines.extend(piece_lines(piece, width, palette))
            return lines + answer_end(block, palette)
        case ThinkingBlock():
            return _thinking(block, width, palette, is_unfolded=is_unfolded)
        case CallBlock():
            return call_lines(block, width, palette, is_unfolded=is_unfolded, now_s=now_s, diffs=diffs)
        case GoalBlock():
            return [Text(), _rule(f"{block.goal_id} {one_line(block.description)}", width, palette)]
        case FoldBlock():
            return _fold(block, width, palette, is_unfolded=is_unfolded)
        case NoticeBlock():
            return _notice(block, width, palette, is_unfolded=is_unfolded)
        case RetryBlock():
            return [_retry(block, width, palette)]
        case RunBlock():
            return [Text(), _run_end(block, width, palette)]
        case CheckpointBlock():
            return [_checkpoint(block, width, palette)]
        case DiffBlock():
            kept, n_left_out = bounded(block.diff, DIFF_LIMIT_LINES)
            end = [Text(f"… {n_left_out:,} more lines", palette.warning)] if n_left_out else []
            return diff_lines(kept, width, palette, has_names=True, form=diffs) + end
        case FileBlock():
            return file_lines(block, width, palette)
        case _:
            assert_never(block)


def answer_pieces(block: AnswerBlock) -> list[str]:
    """Return an answer's text in pieces that can be rendered alone, bounded."""
    text, n_left_out = bounded(block.text, ANSWER_LIMIT_LINES)
    pieces = pieces_of(shown(text[:ANSWER_LIMIT_CHARS].strip("\n")))
    if len(text) > ANSWER_LIMIT_CHARS:
        return [*pieces, f"\n\n*… {len(text) - ANSWER_LIMIT_CHARS:,} more characters in the trace*"]
    return [*pieces, f"\n*… {n_left_out:,} more lines in the trace*"] if n_left_out else pieces


def piece_lines(piece: str, width: int, palette: Palette) -> list[Text]:
    """Return the lines of one piece of an answer, with its blank lines at the end."""
    lines = [with_places(line) for line in markdown_lines(piece, width - GUTTER_CELLS, palette)]
    lines = prefixed(lines, INDENT, INDENT)
    has_gap = piece.endswith("\n\n") or (piece.endswith("\n") and not piece.strip())
    return [*lines, Text()] if has_gap else lines


def answer_end(block: AnswerBlock, palette: Palette) -> list[Text]:
    """Return the line that says that an answer was cut off, if it was."""
    return [Text("  ■ interrupted", palette.muted)] if block.interrupted else []


def _words(text: str, width: int, palette: Palette, *, is_unfolded: bool, ground: Style) -> list[Text]:
    limit = RESULT_LIMIT_LINES if is_unfolded else WORDS_LIMIT_LINES
    kept, n_left_out = bounded(text.strip("\n"), limit)
    body = wrapped(Text(shown(kept)), width - GUTTER_CELLS - 1)
    if len(body) > limit * 2:
        body = body[: limit * 2]
    lines = prefixed(body, Text("› ", palette.user), INDENT)
    if n_left_out:
        lines.append(Text(f"  … {n_left_out:,} more lines", palette.muted))
    for line in lines:
        line.append(" " * max(0, width - line.cell_len))
        line.stylize_before(ground)
    return lines


def _comment(block: CommentBlock, width: int, palette: Palette, *, is_unfolded: bool) -> list[Text]:
    fate = Text(one_line(block.fate) or "waiting", palette.muted if block.fate else palette.warning)
    room = width - fate.cell_len - 2
    is_beside = room >= max(MIN_COMMENT_CELLS, width // 2)
    lines = _words(
        block.text, room if is_beside else width, palette, is_unfolded=is_unfolded, ground=palette.panel
    )
    told: list[Text] = []
    if is_beside:
        lines[0] = Text.assemble(lines[0], " ", fate)
    else:
        told += wrapped(fate, width - GUTTER_CELLS)
    if block.note:
        told += wrapped(Text(one_line(block.note, NOTE_LIMIT_CHARS), palette.muted), width - GUTTER_CELLS)
    lines += prefixed(told, INDENT, INDENT)
    for line in lines:
        line.append(" " * max(0, width - line.cell_len))
        line.stylize_before(palette.panel)
    return lines


def _thinking(block: ThinkingBlock, width: int, palette: Palette, *, is_unfolded: bool) -> list[Text]:
    style = palette.thinking
    if block.is_streaming:
        tail = block.text[-PREVIEW_LIMIT_CHARS:]
        body = wrapped(Text(shown(tail), style), width - GUTTER_CELLS)[-PREVIEW_LINES:]
        return [Text("▾ thinking …", style), *prefixed(body, INDENT, INDENT)]
    n_words = len(block.text.split())
    mark = "▾" if is_unfolded else "▸"
    title = title_line(
        Text(f"{mark} thought", style),
        Text(counted(n_words, "word"), palette.muted) if n_words else Text(),
        width,
    )
    if not is_unfolded:
        return [title]
    text, _ = bounded(block.text.strip(), RESULT_LIMIT_LINES)
    body = wrapped(Text(shown(text), style), width - GUTTER_CELLS)
    return [title, *prefixed(body, INDENT, INDENT)]


def _rule(title: str, width: int, palette: Palette) -> Text:
    line = Text.assemble(("── ", palette.border), (title, palette.accent), " ")
    line.truncate(width, overflow="ellipsis")
    return Text.assemble(line, ("─" * max(0, width - line.cell_len), palette.border))


def _checkpoint(block: CheckpointBlock, width: int, palette: Palette) -> Text:
    goal = f" · goal {block.goal_id}" if block.goal_id else ""
    files = f"{counted(block.n_files, 'file')} changed" if block.n_files is not None else "files changed"
    by = " by you" if block.by == "user" else ""
    line = Text.assemble(
        ("┄┄ ", palette.border), (f"◇ turn {block.turn}{goal} · {files}{by} ", palette.muted)
    )
    line.truncate(width, overflow="ellipsis")
    return Text.assemble(line, ("┄" * max(0, width - line.cell_len), palette.border))


def _fold(block: FoldBlock, width: int, palette: Palette, *, is_unfolded: bool) -> list[Text]:
    goals = [fold.goal_id for fold in block.folds if fold.goal_id and fold.text]
    n_messages = sum(len(fold.seqs) for fold in block.folds)
    what = f"goal{'s' if len(goals) > 1 else ''} {', '.join(goals)}" if goals else "earlier work"
    left = Text.assemble(
        ("▾ " if is_unfolded else "≡ ", palette.accent), (f"folded {what}", palette.muted), ""
    )
    right = Text(f"{counted(n_messages, 'message')} · {block.reason}", palette.muted)
    lines = [title_line(left, right, width)]
    if not is_unfolded:
        return lines
    bar = Text("  ┆ ", palette.border)
    for fold in block.folds:
        if fold.text:
            kept, _ = bounded(fold.text, RESULT_LIMIT_LINES)
            lines += prefixed(wrapped(Text(shown(kept), palette.muted), width - 4), bar, bar)
    return lines


def _notice(block: NoticeBlock, width: int, palette: Palette, *, is_unfolded: bool) -> list[Text]:
    marks = {"info": ("·", palette.muted), "warning": ("!", palette.warning), "error": ("✗", palette.error)}
    mark, style = marks[block.level]
    limit = RESULT_LIMIT_LINES if is_unfolded else WORDS_LIMIT_LINES
    kept, n_left_out = bounded(block.text.strip(), limit)
    body = wrapped(Text(shown(kept), style), width - GUTTER_CELLS)
    if n_left_out:
        body.append(Text(f"… {n_left_out:,} more lines", palette.muted))
    if block.hint:
        body += wrapped(Text(shown(block.hint), palette.muted), width - GUTTER_CELLS)
    return prefixed(body, Text(f"{mark} ", style), INDENT)


def _retry(block: RetryBlock, width: int, palette: Palette) -> Text:
    left = Text.assemble(("↻ ", palette.warning), (one_line(block.reason, 200), palette.warning))
    wait = f"try {block.attempt + 1} of {block.of_attempts} in {block.remaining_s} s"
    return title_line(left, Text(wait, palette.muted), width)


def _run_end(block: RunBlock, width: int, palette: Palette) -> Text:
    styles = {"done": palette.success, "failed": palette.error}
    style = styles.get(block.status, palette.warning)
    reason = one_line(block.reason, 200)
    line = Text.assemble(
        ("── ", palette.border),
        (f"{_RUN_MARKS.get(block.status, '·')} {block.status} ", style),
        (f"{reason} " if reason else "", palette.muted),
    )
    line.truncate(width, overflow="ellipsis")
    return Text.assemble(line, ("─" * max(0, width - line.cell_len), palette.border))


__all__ = [
    "ANSWER_LIMIT_CHARS",
    "ANSWER_LIMIT_LINES",
    "answer_end",
    "answer_pieces",
    "block_lines",
    "can_fold",
    "can_mark",
    "piece_lines",
    "starts_unfolded",
]
