"""One rewrite of a view: what stays, what becomes folds, which lines stay pinned, which pointers open.

Pure: returns the record of the rewrite, or None. Must not fold the user's own words, nor split a call
from its result, nor decide when a rewrite is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.context.groups import SUMMARY_SHARE, Group, Grouping
from tori_tui.context.heat import Heat
from tori_tui.context.marks import Marks
from tori_tui.context.pins import candidates, chosen, pinned_lines
from tori_tui.context.sight import Sight, message_at, shown_parts
from tori_tui.context.words import said_text
from tori_tui.domain.events import Fold, MessagesFolded, Pin
from tori_tui.domain.ids import ContextId, GoalId, Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import View, ViewEntry, fold_view, numbered

LIVE_SHARE: Final = 0.6
"""Of the hard mark: what the newest rounds of the current goal and the one before may keep."""

KEPT_GOALS: Final = 1
"""Goals before the current one whose rounds stay whole."""

REFILL_TOKENS: Final = 100
"""Room left after the fold texts were counted exactly that is worth another filling."""

FAILURE_ROWS: Final = 60
"""Of the last failure's text, so many rows always stay: a third from its head, the rest from its end."""

MIN_GAIN_TOKENS: Final = 1_000
"""A rewrite that frees less costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A view and what is known of it."""

    state: SessionState
    context: ContextId
    fixed_tokens: int
    """System prompt, tools and plan."""
    count_message: Callable[[Message], int]
    count_text: Callable[[str], int]
    sight: Sight
    heat: Heat

    @property
    def view(self) -> View:
        """The view that is to be rewritten."""
        return self.state.view(self.context)

    @property
    def entries(self) -> Sequence[ViewEntry]:
        """Its entries."""
        return self.view.entries

    def tokens(self, entry: ViewEntry) -> int:
        """Return what an entry takes."""
        return self.count_message(entry.message)

    @property
    def total_tokens(self) -> int:
        """What the whole request takes."""
        return self.fixed_tokens + sum(self.tokens(entry) for entry in self.entries)


def rewritten(
    scene: Scene,
    is_kept: Sequence[bool],
    target_tokens: int,
    *,
    reason: str,
    rule: str,
    summary_tokens: int = 0,
    under: Sequence[GoalId] = (),
    only_looks: bool = False,
) -> MessagesFolded | None:
    """Return the rewrite that folds everything that is not kept, filled with pins up to a size.

    Args:
        scene: The view.
        is_kept: For each entry whether it stays as it is.
        target_tokens: Up to which size of the whole request pins are added.
        reason: For the record.
        rule: For the record.
        summary_tokens: What the folds' own texts may take before they merge.
        under: Goals that fold as one with everything below them; then nothing else merges.
        only_looks: Whether pins are chosen from what was looked at alone, not from what was tried.
    """
    entries = tuple(scene.entries)
    folded = [entry for entry, kept in zip(entries, is_kept, strict=True) if not kept]
    if not any(not entry.is_fold or entry.pins for entry in folded):
        return None
    elsewhere = frozenset(
        entry.message.goal_id
        for entry, kept in zip(entries, is_kept, strict=True)
        if kept and entry.message.goal_id is not None and not entry.message.is_users_word
    )
    grouping = Grouping(scene.state.tree, scene.state.log, elsewhere, scene.count_text)
    groups = grouping.by_goal(folded)
    groups = grouping.under(groups, under) if under else grouping.bounded(groups, summary_tokens)
    n_kept = sum(scene.tokens(entry) for entry, kept in zip(entries, is_kept, strict=True) if kept)
    n_heads = sum(grouping.head_tokens(group) for group in groups)
    room = max(0, target_tokens - scene.fixed_tokens - n_kept - n_heads)
    found = candidates(entries, is_kept, scene.sight, scene.heat, scene.state.log, only_looks=only_looks)
    forced = _last_failure(scene, folded)
    folds = _folds(scene, grouping, groups, chosen(found, room, forced))
    used = scene.fixed_tokens + n_kept + sum(scene.count_text(fold.text) for fold in folds)
    if room and target_tokens - used > REFILL_TOKENS:
        folds = _folds(scene, grouping, groups, chosen(found, room + target_tokens - used, forced))
    record = MessagesFolded(scene.context, reason, folds, rule)
    opened = opened_pointers(scene, record)
    record = MessagesFolded(scene.context, reason, _changed(entries, (*folds, *opened)), rule)
    return record if record.folds else None


def _folds(
    scene: Scene, grouping: Grouping, groups: Iterable[Group], pins: Mapping[Seq, Sequence[Pin]]
) -> tuple[Fold, ...]:
    folds = []
    for group in groups:
        seqs = group.seqs
        held = [pins[seq] for seq in seqs if seq in pins]
        lines = [shown for of_record in held if (shown := pinned_lines(of_record, scene.state.log))]
        text = grouping.text(group, lines)
        folds.append(Fold(seqs, text, grouping.goal_of(group), tuple(p for part in held for p in part)))
    return tuple(folds)


def _changed(entries: Iterable[ViewEntry], folds: Iterable[Fold]) -> tuple[Fold, ...]:
    """Leave out folds that stand in the view already just so."""
    known = {(entry.seqs, entry.message.text) for entry in entries if entry.is_fold}
    return tuple(fold for fold in folds if (fold.seqs, fold.text) not in known)


def opened_pointers(scene: Scene, record: MessagesFolded) -> tuple[Fold, ...]:
    """Return whole texts for pointers whose target the rewrite takes away."""
    pointers = [entry for entry in scene.entries if entry.is_pointer]
    if not pointers:
        return ()
    view = fold_view(scene.view, scene.context, record.folds, record.reason)
    sight = Sight(scene.sight.lines_of)
    sight.follow(view, scene.state.log)
    standing = {entry.seqs for entry in view.entries if entry.is_pointer}
    present = {part.seq for entry in view.entries for part in shown_parts(entry)}
    opened = []
    for entry in pointers:
        said, seq = entry.said, entry.seqs[0]
        if entry.seqs not in standing or (
            present.issuperset(said.shown_since) and sight.shows(scene.sight.lines_of(seq, said))
        ):
            continue
        opened.append(Fold(entry.seqs, numbered(said.text, seq), said.goal_id, is_result=True))
    return tuple(opened)


def _last_failure(scene: Scene, folded: Iterable[ViewEntry]) -> list[Pin]:
    """Return what must stay of the last call that failed, where its own message goes."""
    gone = {seq for entry in folded for seq in entry.seqs}
    failed = next(
        (
            said
            for said in reversed(scene.state.log)
            if said.message.context == scene.context and is_failure(said.message)
        ),
        None,
    )
    if failed is None or failed.seq not in gone:
        return []
    n_rows = len(said_text(failed.message).split("\n"))
    if n_rows <= FAILURE_ROWS:
        return [Pin(failed.seq, 0, n_rows)]
    head = FAILURE_ROWS // 3
    return [Pin(failed.seq, 0, head), Pin(failed.seq, n_rows - FAILURE_ROWS + head, n_rows)]


def is_failure(message: Message) -> bool:
    """Whether a message is the result of a call that ran and failed."""
    if message.role != "tool" or message.origin != "tool":
        return False
    exit_code = message.details.get("exit_code")
    return message.is_error or (isinstance(exit_code, int) and exit_code != 0)


def kept_in_batch(scene: Scene, marks: Marks, live_tokens: int) -> list[bool]:
    """Return what a batch keeps: the user's words, and the newest rounds of the live goals.

    Args:
        scene: The view.
        marks: Of the profile.
        live_tokens: What the rounds may take; the newest one stays in any case.
    """
    entries = scene.entries
    open_ids = set(scene.state.open_calls)
    is_kept = [entry.message.is_users_word or _is_pinned(scene, entry) for entry in entries]
    current = scene.state.tree.current_id
    path = frozenset(goal.id for goal in scene.state.tree.path_to(current)) if current else frozenset()
    others: set[tuple[object, GoalId | None]] = set()
    used = 0
    round_: list[int] = []
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if entry.is_fold or entry.message.is_users_word:
            continue
        round_.append(at)
        if entry.message.role != "assistant":
            continue
        said = message_at(scene.state.log, entry.seqs[0])
        owner = (said.mission_id if said else None, entry.message.goal_id)
        is_live = owner[0] == scene.state.tree.mission and (owner[1] == current or owner[1] in path)
        if not is_live:
            others.add(owner)
        size = sum(scene.tokens(entries[i]) for i in round_)
        is_open = any(call.id in open_ids for call in entry.message.tool_calls)
        if not is_open and used and (len(others) > KEPT_GOALS or used + size > live_tokens):
            break
        used += size
        for i in round_:
            is_kept[i] = True
        round_ = []
    return is_kept


def _is_pinned(scene: Scene, entry: ViewEntry) -> bool:
    """Whether the user has pinned the goal; then nothing of it folds."""
    goal_id = entry.message.goal_id
    return goal_id is not None and any(goal.pinned for goal in scene.state.tree.path_to(goal_id))


__all__ = [
    "LIVE_SHARE",
    "MIN_GAIN_TOKENS",
    "SUMMARY_SHARE",
    "Scene",
    "is_failure",
    "kept_in_batch",
    "opened_pointers",
    "rewritten",
]
