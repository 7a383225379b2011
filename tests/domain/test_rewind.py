from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.messages import assistant, call, records, result, user
from tori_tui.domain.events import (
    CallStarted,
    CheckpointSaved,
    DurableEvent,
    FileIntent,
    PlanChanged,
    Rewound,
    TurnFinished,
)
from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    MissionOpened,
    PlanEdit,
    apply_edits,
)
from tori_tui.domain.rewind import (
    REWIND_REASON,
    RewindRefused,
    agent_intervals,
    befores_since,
    find_point,
    next_mission_id,
    next_undo,
    rewind_points,
    saved_since,
)
from tori_tui.domain.state import SessionState, reduce_all

ONE, TWO = GoalId("1"), GoalId("2")


def turn(number: int) -> TurnFinished:
    return TurnFinished(number, MAIN_CONTEXT, None, "m", "end")


def plan(*edits: PlanEdit, call_id: str | None = None) -> PlanChanged:
    return PlanChanged(edits, "model", CallId(call_id) if call_id else None)


def goal_turn(number: int, call_id: str, *edits: PlanEdit, goal: str | None) -> list[DurableEvent | Message]:
    """Write a turn whose goal call edits the plan."""
    return [
        turn(number),
        assistant("", call(call_id, "goal"), goal=goal),
        plan(*edits, call_id=call_id),
        result(call_id, "goal", "ok", goal=goal),
    ]


STORY: list[DurableEvent | Message] = [
    plan(MissionOpened(MissionId("m1"), "two things")),  # 1
    user("two things"),  # 2
    *goal_turn(
        1, "a", GoalAdded(ONE, None, "A"), GoalAdded(TWO, None, "B"), GoalFocused(ONE), goal="1"
    ),  # 3-6
    *goal_turn(2, "b", GoalCompleted(ONE, "a done"), GoalFocused(TWO), goal="2"),  # 7-10
    *goal_turn(3, "c", GoalCompleted(TWO, "b done"), GoalFocused(None), goal=None),  # 11-14
    turn(4),  # 15
    assistant("all done"),  # 16
]


def after(*events: DurableEvent | Message) -> SessionState:
    return reduce_all(records([*STORY, *events]))


def shown(state: SessionState) -> list[str]:
    return [entry.message.text or "calls" for entry in state.view(MAIN_CONTEXT).entries]


def test_a_goal_begins_where_it_was_focused_without_the_turn_that_did_it() -> None:
    state = after()
    point = find_point(state, goal=TWO)
    back = after(Rewound(point.seq))
    assert point.title == "goal 2 B"
    assert back.tree.current_id == TWO
    assert [goal.status for goal in back.tree.goals] == ["completed", "in_progress"]
    assert shown(back) == ["two things", "calls", "ok"]
    assert back.view(MAIN_CONTEXT).last_rewrite == "rewind"


def test_a_turn_is_gone_back_to_as_it_was_before_it() -> None:
    back = after(Rewound(find_point(after(), turn=2).seq))
    assert back.tree.current_id == ONE
    assert [goal.status for goal in back.tree.goals] == ["in_progress", "pending"]


def test_an_unknown_goal_or_turn_names_those_that_there_are() -> None:
    with pytest.raises(RewindRefused, match=r"not in the plan.*\s*Goals to go back to: 1, 2"):
        find_point(after(), goal=GoalId("7"))
    with pytest.raises(RewindRefused, match=r"Turns to go back to: 1 to 4"):
        find_point(after(), turn=9)


def test_undo_and_redo_go_to_and_fro() -> None:
    whole = after()
    events: list[DurableEvent | Message] = [Rewound(find_point(whole, goal=TWO).seq, title="goal 2 B")]
    gone_back = after(*events)
    events.append(next_undo(gone_back, "undo"))
    undone = after(*events)
    assert (undone.tree, shown(undone), undone.past.lost[:-1]) == (whole.tree, shown(whole), ())
    events.append(next_undo(undone, "redo"))
    redone = after(*events)
    assert (redone.tree, shown(redone)) == (gone_back.tree, shown(gone_back))
    with pytest.raises(RewindRefused, match="nothing to redo"):
        next_undo(redone, "redo")
    assert next_undo(redone, "undo").to_seq == 18


def test_what_was_taken_back_is_known_and_no_point_any_more() -> None:
    back = after(Rewound(find_point(after(), goal=TWO).seq))
    assert [back.past.is_lost(Seq(n)) for n in (9, 10, 16, 17)] == [False, True, True, True]
    assert [point.title for point in rewind_points(back)] == ["turn 1", "goal 1 A", "turn 2", "goal 2 B"]


def test_files_alone_leave_plan_and_view_as_they_are() -> None:
    whole = after()
    back = after(Rewound(find_point(whole, goal=TWO).seq, messages=False, files=True))
    assert (back.tree, shown(back), back.past.lost) == (whole.tree, shown(whole), ())


def test_ids_never_come_back() -> None:
    replaced = [
        *goal_turn(5, "d", GoalAdded(GoalId("3"), None, "C"), GoalFocused(GoalId("3")), goal="3"),
        *goal_turn(
            6,
            "e",
            GoalAbandoned(GoalId("3"), "no"),
            GoalAdded(GoalId("3'"), None, "C2", after_id=GoalId("3"), replaces=GoalId("3")),
            goal=None,
        ),
    ]
    state = after(*replaced)
    start = find_point(state, goal=GoalId("3")).seq
    back = after(*replaced, Rewound(start))
    edits = plan_goal_call(back.tree, GoalWishes(abandon="no", add="C3"))
    assert apply_edits(back.tree, edits).find(GoalId("3''")) is not None
    earlier = after(*replaced, Rewound(find_point(state, turn=5).seq))
    fresh = plan_goal_call(earlier.tree, GoalWishes(add="D"))
    assert [e.id for e in fresh if isinstance(e, GoalAdded)] == ["4"]


def test_a_mission_that_was_taken_back_leaves_its_id_unused() -> None:
    second: list[DurableEvent | Message] = [plan(MissionOpened(MissionId("m2"), "more")), user("more")]
    back = after(*second, Rewound(Seq(16)))
    assert [mission.id for mission in back.tree.missions] == ["m1"]
    assert next_mission_id(back) == "m3"


def test_the_saved_tree_of_a_record_is_the_newest_that_was_looked_at_before_it() -> None:
    saved = [
        CheckpointSaved("t1", "first", at_seq=Seq(2)),
        CheckpointSaved("t2", "turn", at_seq=Seq(10), by="agent"),
        CheckpointSaved("t3", "turn", at_seq=Seq(16), by="agent"),
    ]
    state = after(*saved)
    assert [p.event.tree for p in saved_since(state, Seq(9))] == ["t1", "t2", "t3"]
    assert [p.event.tree for p in saved_since(state, Seq(10))] == ["t2", "t3"]
    assert [p.event.tree for p in saved_since(state, Seq(1))] == ["t1", "t2", "t3"]


def test_the_first_change_of_a_file_since_then_says_what_was_before() -> None:
    def write(path: str, before: str | None, kept: str | None) -> CallStarted:
        return CallStarted(CallId("w"), "write_file", files=(FileIntent(path, before, "x", kept),))

    state = after(write("a", "1", "a.before"), write("a", "2", "later"), write("new", None, None))
    assert befores_since(state, Seq(16)) == {"a": "a.before", "new": None}
    assert befores_since(state, Seq(17)) == {"a": "later", "new": None}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 16).map(lambda n: ("rewind", n)), st.just(("undo", 0))), max_size=8))
def test_every_undo_brings_back_exactly_what_was_there(asked: list[tuple[str, int]]) -> None:
    events: list[DurableEvent | Message] = []
    stack: list[SessionState] = []
    for how, seq in asked:
        before = after(*events)
        if how == "rewind":
            stack.append(before)
            events.append(Rewound(Seq(seq)))
        elif stack:
            wanted = stack.pop()
            events.append(next_undo(before, "undo"))
            now = after(*events)
            assert (now.tree, shown(now)) == (wanted.tree, shown(wanted))
            assert now.ended_at == wanted.ended_at


def work(tree: str) -> CheckpointSaved:
    return CheckpointSaved(tree, "turn", by="agent")


def trees(state: SessionState) -> list[str]:
    return [interval.after for interval in agent_intervals(state)]


def test_files_that_were_rewound_are_no_work_until_that_is_undone() -> None:
    back = CheckpointSaved("t0", REWIND_REASON)
    told: list[DurableEvent | Message] = [CheckpointSaved("t0", "start"), work("t1")]  # 17, 18
    told += [Rewound(Seq(17), files=True), back]  # 19, 20
    assert trees(after(*told)) == []
    told += [work("t2")]  # 21
    assert trees(after(*told)) == ["t2"]
    assert trees(after(*told, Rewound(Seq(17), files=False))) == ["t2"]
    told += [Rewound(Seq(18), messages=False, files=True, how="undo"), back]  # 22, 23
    assert trees(after(*told)) == ["t1"]
    told += [Rewound(Seq(21), messages=False, files=True, how="redo")]
    assert trees(after(*told)) == ["t2"]
