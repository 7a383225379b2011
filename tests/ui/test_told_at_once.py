from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.ui import scenes
from tests.ui.fakes import answered
from tori_tui.domain.events import CommentReceived, CommentRouted, DurableEvent, PlanChanged, Record, Rewound
from tori_tui.domain.ids import CommentId, GoalId, Seq
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused
from tori_tui.domain.state import SessionState, reduce
from tori_tui.ui.transcript.blocks import CommentBlock
from tori_tui.ui.transcript.story import Story


def one_by_one(records: list[Record]) -> tuple[Story, SessionState]:
    story, state = Story(), SessionState()
    for record in records:
        state = reduce(state, record)
        story.tell_record(record, state)
    return story, state


def a_session() -> list[Record]:
    routed = (GoalAdded(GoalId("9"), None, "Asked for in a comment"), GoalFocused(GoalId("9")))
    again = (GoalAdded(GoalId("11"), None, "Another way"), GoalFocused(GoalId("11")))
    events: list[DurableEvent] = [e for e in scenes.working_session() if isinstance(e, DurableEvent)]
    before = Seq(len(events))
    events += [
        CommentReceived(CommentId("c9"), "do this too"),
        CommentRouted(CommentId("c9"), "future", "user", routed),
        answered("I do that too."),
        Rewound(before, title="before the comment"),
        PlanChanged(again, "user"),
        answered("Another way then."),
    ]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [Record(Seq(number), at, event) for number, event in enumerate(events, 1)]


@pytest.mark.parametrize("n_before", [0, 3, 12])
def test_many_records_at_once_tell_what_they_tell_one_by_one(n_before: int) -> None:
    records = a_session()
    live, live_state = one_by_one(records)
    story, state = one_by_one(records[:n_before])
    state = story.tell_records(records[n_before:], state)
    assert story.blocks == live.blocks
    assert state == live_state


def test_a_resumed_session_tells_what_the_live_one_told() -> None:
    records = a_session()
    live, state = one_by_one(records)
    resumed = Story()
    resumed.tell_state(state, records)
    assert [block for _, block in resumed.blocks] == [block for _, block in live.blocks]
    assert "Another way" in str(resumed.blocks)


def test_a_rewind_leaves_what_stood_there_before_as_it_was_told_and_an_undo_brings_the_rest_back() -> None:
    records = a_session()
    (at,) = (index for index, record in enumerate(records) if isinstance(record.event, Rewound))
    all_of_it, _ = one_by_one(records[:at])
    rewound, state = one_by_one(records[: at + 1])
    (lost,) = state.past.lost
    then, _ = one_by_one(records[: lost.first - 1])
    undo = Record(Seq(at + 2), records[at].at, Rewound(Seq(at), how="undo", title="undone"))
    undone, _ = one_by_one([*records[: at + 1], undo])
    told = [block for _, block in rewound.blocks]
    assert told[:-1] == [block for _, block in then.blocks]
    assert any(isinstance(block, CommentBlock) for block in told)
    assert [block for _, block in undone.blocks][:-1] == [block for _, block in all_of_it.blocks]
