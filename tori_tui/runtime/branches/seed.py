"""The first records of a branch: what it inherits, its direction, the words with which it is sent out.

Pure. Must not write a trace; the executor does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from tori_tui.domain.events import (
    ContextChanged,
    DurableEvent,
    Fold,
    MessageAdded,
    MessagesFolded,
    PlanChanged,
    Record,
    RunStatusChanged,
)
from tori_tui.domain.ids import MAIN_CONTEXT, MissionId, Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.domain.view import View, ViewEntry, add_message
from tori_tui.runtime.branches.work import BranchWork

KEPT_DETAILS: Final = ("path", "sha256")
"""What the file tools must know of what was read."""

MISSION: Final = MissionId("m1")


def inherited_records(view: View, at: datetime) -> tuple[Record, ...]:
    """Return the records that make another trace show a view as it is, under the same numbers.

    Messages lose their goals: the branch has a tree of its own. Each keeps its number, by which pointers
    and `recall` name it.
    """
    records: list[Record] = []
    folds: list[Fold] = []
    last = Seq(0)
    for entry in view.entries:
        # An earlier fold stands under the number of the first message that it replaced.
        last = Seq(max(entry.seqs[0], last + 1))
        records.append(Record(last, at, MessageAdded(_freed(entry.said))))
        shown = add_message(View(), last, _freed(entry.said)).entries
        if len(shown) and shown[0].message.content != entry.message.content:
            folds.append(Fold((last,), entry.message.text, is_result=True))
    if folds:
        folded = MessagesFolded(MAIN_CONTEXT, "inherited", tuple(folds))
        records.append(Record(Seq(last + 1), at, folded))
    return tuple(records)


def first_records(work: BranchWork, parent: str, cwd: str, at: datetime) -> Iterator[Record]:
    """Yield the records with which a branch's trace begins; a run that continues it is the branch."""
    inherited: Sequence[Record] = work.inherited.records if work.inherited is not None else ()
    yield from inherited
    seq = inherited[-1].seq if inherited else 0
    named = f"branch {work.branch_id} of {parent}"
    told = Message(MAIN_CONTEXT, None, "user", sending_words(work, cwd), origin="user")
    events: tuple[DurableEvent, ...] = (
        RunStatusChanged("idle", named, parent=parent),
        PlanChanged((MissionOpened(MISSION, work.direction, work.check),), "model"),
        MessageAdded(told),
        *((ContextChanged(MAIN_CONTEXT, "configured", effort=work.effort),) if work.effort else ()),
    )
    for number, event in enumerate(events, 1):
        yield Record(Seq(seq + number), at, event)


def sending_words(work: BranchWork, cwd: str) -> str:
    """Return the user message with which a branch begins."""
    parts = [
        f"You are branch {work.branch_id}, one of {work.n_branches} that follow different directions at the "
        "same time. Yours:",
        work.direction,
    ]
    if work.background:
        parts.append(f"Background:\n{work.background}")
    parts.append("\n".join(f"- {rule}" for rule in _rules(work, cwd)))
    return "\n\n".join(parts)


def _rules(work: BranchWork, cwd: str) -> Iterator[str]:
    if work.mode == "research":
        yield "Only read: whatever would change a file is refused."
    else:
        yield (
            f"You work in a copy of the work tree that is yours alone; your working directory is {cwd}. "
            "Change what the direction needs there, and nothing elsewhere."
        )
        if work.base is not None and work.base.left_out:
            yield f"Too large to be in the copy: {', '.join(work.base.left_out[:10])}."
    if work.check is not None:
        yield f"When you say that you are done, `{work.check}` is run and must pass."
    turns = f" You have {work.limits.turns} turns." if work.limits.turns is not None else ""
    yield f"Nobody answers questions, and a branch cannot explore.{turns}"
    yield (
        "Only your last message reaches the one who sent you: the result, the files and lines on which it "
        "rests, what stays open."
    )


def _freed(message: Message) -> Message:
    details = {key: message.details[key] for key in KEPT_DETAILS if key in message.details}
    return replace(message, context=MAIN_CONTEXT, goal_id=None, comment_id=None, details=details)


def shown_messages(view: View) -> list[Message]:
    """Return what a view shows, for comparing two."""
    return [_shown(entry) for entry in view.entries]


def _shown(entry: ViewEntry) -> Message:
    return replace(_freed(entry.message), shown=None, shown_since=())


__all__ = ["first_records", "inherited_records", "sending_words", "shown_messages"]
