"""The view of a context: which messages its next request shows, with folds in the place of others.

Must not decide what to fold; a `fold` record says that, this applies it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tori_tui.domain.events import Fold
from tori_tui.domain.ids import ContextId, GoalId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """One message of the view and the records it stands for."""

    message: Message
    seqs: tuple[Seq, ...]
    """One for a message that was said; all that were replaced, for a fold."""

    @property
    def is_fold(self) -> bool:
        """Whether the text was written by a fold."""
        return self.message.origin == "fold"


@dataclass(frozen=True, slots=True)
class View:
    """The messages of one context as its next request shows them."""

    entries: Log[ViewEntry] = field(default_factory=Log)
    n_rewrites: int = 0
    """Grows whenever an entry changed that a request may already have shown."""
    last_rewrite: str | None = None
    """Why the newest rewrite was made."""


def add_message(view: View, seq: Seq, message: Message) -> View:
    """Return the view with a message at its end; an interrupted one stays outside."""
    if message.interrupted:
        return view
    entries = view.entries.appended(ViewEntry(message, (seq,)))
    return View(entries, view.n_rewrites, view.last_rewrite)


def fold_view(view: View, context: ContextId, folds: Iterable[Fold], reason: str) -> View:
    """Return the view in which each fold's text stands where its first message stood.

    A fold of messages that are not in the view adds nothing. A fold may name the seqs of earlier
    folds: entries all of whose seqs it names are replaced.
    """
    owner: dict[Seq, Fold] = {seq: fold for fold in folds for seq in fold.seqs}
    entries: list[ViewEntry] = []
    placed: set[int] = set()
    for entry in view.entries:
        fold = owner.get(entry.seqs[0]) if all(seq in owner for seq in entry.seqs) else None
        if fold is None:
            entries.append(entry)
        elif id(fold) not in placed:
            placed.add(id(fold))
            if fold.text:
                summary = Message(context, fold.goal_id, "user", fold.text, origin="fold")
                entries.append(ViewEntry(summary, fold.seqs))
    return View(Log(entries), view.n_rewrites + 1, reason)


def reassign(view: View, seqs: frozenset[Seq], goal_id: GoalId | None) -> View:
    """Return the view in which those messages belong to another goal; nothing visible changes."""
    entries = view.entries
    # The newest turn holds them; the search from the end stays short.
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if not entry.is_fold and entry.seqs[0] in seqs:
            moved = replace(entry, message=replace(entry.message, goal_id=goal_id))
            entries = entries.replaced(index, moved)
        elif entry.seqs[0] < min(seqs):
            break
    return replace(view, entries=entries)


__all__ = ["View", "ViewEntry", "add_message", "fold_view", "reassign"]
