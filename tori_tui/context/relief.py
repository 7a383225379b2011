"""What is done when a request does not fit: fold all but the newest turns, cut results, at last a summary.

Pure: returns records. Must not fold or cut the user's own words, and must not ask a model itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tori_tui.context.batch import Scene, kept_in_batch, rewritten
from tori_tui.context.fold_text import summary_fold_text
from tori_tui.context.marks import Marks
from tori_tui.context.words import said_text
from tori_tui.domain.events import Fold, MessagesFolded
from tori_tui.domain.view import ViewEntry

RULE: Final = "overflow"

ROOM_SHARE: Final = 0.8
"""Of the limit: to this the newest results are cut, so that the next turn fits too."""

LEAST_RESULT_TOKENS: Final = 400
"""A result is not cut below this: what is left would tell nothing."""

HEAD_SHARE: Final = 0.6

SUMMARY_INPUT_SHARE: Final = 0.5
"""Of the low mark: what a model is given to summarise."""

SUMMARY_LIMIT_CHARS: Final = 8_000
MESSAGE_LIMIT_CHARS: Final = 2_000
"""Of one message in the text that is to be summarised."""


def relieved(scene: Scene, marks: Marks, limit_tokens: int, reason: str) -> MessagesFolded | None:
    """Return a rewrite to the low mark, with the newest results cut where that is not enough.

    Returns:
        None if nothing can be freed.
    """
    is_kept = kept_in_batch(scene, marks, marks.low // 2)
    batch = rewritten(scene, is_kept, marks.low, reason=reason, rule=RULE, summary_tokens=marks.low // 4)
    folds = batch.folds if batch else ()
    excess = size_after(scene, folds) - int(ROOM_SHARE * limit_tokens)
    if excess > 0:
        folds = (*folds, *_cuts(scene, is_kept, folds, excess))
    if not folds or size_after(scene, folds) >= scene.total_tokens:
        return None
    return MessagesFolded(scene.context, reason, folds, RULE)


def size_after(scene: Scene, folds: Sequence[Fold]) -> int:
    """Return the size of the whole request after a rewrite."""
    replaced = {seq for fold in folds for seq in fold.seqs}
    stays = sum(scene.tokens(entry) for entry in scene.entries if not replaced.issuperset(entry.seqs))
    return scene.fixed_tokens + stays + sum(scene.count_text(fold.text) for fold in folds)


def _cuts(scene: Scene, is_kept: Sequence[bool], folds: Sequence[Fold], excess_tokens: int) -> list[Fold]:
    """Return the largest of the kept results with their middle left out."""
    changed = {fold.seqs for fold in folds}
    results = [
        entry
        for entry, kept in zip(scene.entries, is_kept, strict=True)
        if kept and entry.message.role == "tool" and entry.seqs not in changed
    ]
    cuts = []
    for entry in sorted(results, key=lambda e: -scene.tokens(e)):
        tokens = scene.tokens(entry)
        left = max(LEAST_RESULT_TOKENS, tokens - excess_tokens)
        if excess_tokens <= 0 or left >= tokens:
            break
        cuts.append(Fold(entry.seqs, _cut(entry, left / tokens), entry.message.goal_id, is_result=True))
        excess_tokens -= tokens - left
    return cuts


def _cut(entry: ViewEntry, share: float) -> str:
    text = entry.said.text
    n_chars = int(len(text) * share)
    head, tail = int(n_chars * HEAD_SHARE), n_chars - int(n_chars * HEAD_SHARE)
    whole = f'the whole: recall(query="#{entry.seqs[0]}")'
    note = f"[… {len(text) - head - tail:,} characters left out here; {whole} …]"
    return f"{text[:head]}\n{note}\n{text[len(text) - tail :]}"


# ── the last resort: a summary by a model ────────────────────────────────────────────────


def summary_input(scene: Scene, marks: Marks) -> str:
    """Return what a model is to summarise, within bounds; empty where there is nothing to gain."""
    gone = [entry for entry, kept in zip(scene.entries, _newest_kept(scene, marks), strict=True) if not kept]
    room_chars = int(SUMMARY_INPUT_SHARE * marks.low * 3)
    parts: list[str] = []
    for entry in reversed(gone):
        part = f"[{entry.message.role}] {said_text(entry.message)[:MESSAGE_LIMIT_CHARS]}"
        room_chars -= len(part)
        if room_chars < 0:
            break
        parts.append(part)
    return "\n\n".join(reversed(parts))


def summarized(scene: Scene, marks: Marks, summary: str, reason: str) -> MessagesFolded | None:
    """Return the rewrite in which a summary stands for all but the newest turn; None if it frees nothing."""
    is_kept = _newest_kept(scene, marks)
    seqs = tuple(
        seq for entry, kept in zip(scene.entries, is_kept, strict=True) if not kept for seq in entry.seqs
    )
    if not seqs or not summary.strip():
        return None
    text = summary_fold_text(summary.strip()[:SUMMARY_LIMIT_CHARS])
    folds = (Fold(tuple(sorted(seqs)), text, scene.state.tree.current_id),)
    if size_after(scene, folds) >= scene.total_tokens:
        return None
    return MessagesFolded(scene.context, reason, folds, "summary")


def _newest_kept(scene: Scene, marks: Marks) -> list[bool]:
    return kept_in_batch(scene, replace(marks, low=0), 0)


__all__ = ["relieved", "size_after", "summarized", "summary_input"]
