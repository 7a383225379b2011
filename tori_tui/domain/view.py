"""The view of a context: which messages its next request shows, with folds in the place of others.

Must not decide what to fold or to leave out; the records say that, this applies them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Final

from tori_tui.domain.events import Fold, Pin
from tori_tui.domain.ids import ContextId, GoalId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message
from tori_tui.domain.value import Value, often_made

NUMBERED_LIMIT_CHARS: Final = 400
"""Results longer than this carry their record's number, so that a later pointer can name them."""


@often_made
class ViewEntry(Value):
    """One message of the view and the records it stands for."""

    message: Message
    seqs: tuple[Seq, ...]
    """One for a message that was said; all that were replaced, for a fold."""
    whole: Message | None = None
    """The message as it was said, where the view shows it in another form."""
    pins: tuple[Pin, ...] = ()
    """Of a fold: what it shows word for word."""
    is_pointer: bool = False
    """Whether a part is left out because the view shows it elsewhere."""

    @property
    def is_fold(self) -> bool:
        """Whether the text was written by a fold."""
        return self.message.origin == "fold"

    @property
    def said(self) -> Message:
        """The message as it was said; of a fold, the fold."""
        return self.whole or self.message


@often_made
class View(Value):
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
    entries = view.entries.appended(_entry(seq, message))
    return View(entries, view.n_rewrites, view.last_rewrite)


def _entry(seq: Seq, message: Message) -> ViewEntry:
    if message.role != "tool" or not isinstance(message.content, str):
        return ViewEntry(message, (seq,))
    if message.shown is not None:
        shown = message.with_content(numbered(message.shown, seq))
        return ViewEntry(shown, (seq,), message, is_pointer=bool(message.shown_since))
    if len(message.content) <= NUMBERED_LIMIT_CHARS:
        return ViewEntry(message, (seq,))
    return ViewEntry(message.with_content(numbered(message.content, seq)), (seq,), message)


def numbered(text: str, seq: Seq) -> str:
    """Return a result's text with its record's number, by which pointers and `recall` name it."""
    return f"{text}\n[#{seq}]"


def fold_view(view: View, context: ContextId, folds: Iterable[Fold], reason: str) -> View:
    """Return the view in which each fold's text stands where its first message stood.

    A fold of messages that are not in the view adds nothing. A fold may name the seqs of earlier
    folds: entries all of whose seqs it names are replaced.
    """
    owner: dict[Seq, Fold] = {seq: fold for fold in folds for seq in fold.seqs}
    entries: list[ViewEntry] = []
    placed: set[int] = set()
    for entry in view.entries:
        fold = owner.get(entry.seqs[0])
        if fold is None or not all(seq in owner for seq in entry.seqs):
            entries.append(entry)
        elif fold.is_result:
            entries.append(_shown_as(entry, fold.text))
        elif id(fold) not in placed:
            placed.add(id(fold))
            if fold.text:
                summary = Message(context, fold.goal_id, "user", fold.text, origin="fold")
                entries.append(ViewEntry(summary, fold.seqs, pins=fold.pins))
    return View(Log(entries), view.n_rewrites + 1, reason)


def _shown_as(entry: ViewEntry, text: str) -> ViewEntry:
    """Return the entry of a result with another text; a fold of other things is left alone."""
    said = entry.said
    if said.role != "tool":
        return entry
    return ViewEntry(said.with_content(text), entry.seqs, said)


def cleared(view: View) -> View:
    """Return the view of a context that was closed: nothing in it, as a rewrite of what was there."""
    return View(Log(), view.n_rewrites + 1, "closed")


def reassign(view: View, seqs: frozenset[Seq], goal_id: GoalId | None) -> View:
    """Return the view in which those messages belong to another goal; nothing visible changes."""
    entries = view.entries
    # The newest turn holds them; the search from the end stays short.
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if not entry.is_fold and entry.seqs[0] in seqs:
            moved = replace(
                entry,
                message=replace(entry.message, goal_id=goal_id),
                whole=replace(entry.whole, goal_id=goal_id) if entry.whole else None,
            )
            entries = entries.replaced(index, moved)
        elif entry.seqs[0] < min(seqs):
            break
    return replace(view, entries=entries)


__all__ = [
    "NUMBERED_LIMIT_CHARS",
    "View",
    "ViewEntry",
    "add_message",
    "cleared",
    "fold_view",
    "numbered",
    "reassign",
]
