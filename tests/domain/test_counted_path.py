from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tests.ui.fakes import answered, call, mission, plan, result, said
from tori_tui.domain.branch_events import BranchChanged
from tori_tui.domain.counted_path import counted_path, left_out
from tori_tui.domain.events import DurableEvent, MessageAdded, Record, Rewound, RunStatusChanged, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, BranchId, CallId, GoalId, Seq
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalFocused
from tori_tui.domain.state import reduce_all
from tori_tui.domain.timeline import Timeline, timeline_of

AT = datetime(2026, 1, 1, tzinfo=UTC)


def records_of(*events: DurableEvent) -> list[Record]:
    return [Record(Seq(n), AT, event) for n, event in enumerate(events, 1)]


def added(number: str, parent: str | None = None) -> GoalAdded:
    return GoalAdded(GoalId(number), GoalId(parent) if parent else None, f"goal {number}")


def turn(number: int, goal: str | None = None) -> TurnFinished:
    return TurnFinished(number, MAIN_CONTEXT, GoalId(goal) if goal else None, "m", "end")


def branch(number: str, action: str, mode: str = "implement") -> BranchChanged:
    assert action in ("planned", "adopted")
    assert mode in ("implement", "research")
    return BranchChanged(BranchId(number), CallId("x"), action, mode=mode)  # type: ignore[arg-type]


STORY = records_of(
    RunStatusChanged("running", model="m"),
    mission("mend it"),
    said("mend it"),
    turn(1),
    answered("first plan", call("c1", "goal")),
    plan(added("1"), added("1.1", "1"), added("2"), GoalFocused(GoalId("1.1"))),
    result("c1", "ok", goal="1.1"),
    turn(2, "1.1"),
    answered("in vain", call("c2", "bash"), goal="1.1"),
    result("c2", "red", goal="1.1"),
    said("try the other way", "1.1", "comment"),
    turn(3),
    answered("giving up", call("c3", "goal"), goal="2"),
    plan(GoalAbandoned(GoalId("1.1"), "no"), GoalAbandoned(GoalId("1"), "no"), GoalFocused(GoalId("2"))),
    result("c3", "ok", goal="2"),
    branch("1", "planned"),
    branch("2", "planned"),
    branch("3", "planned", "research"),
    branch("2", "adopted"),
    turn(4, "2"),
    answered("wrong turn", call("c4", "bash"), goal="2"),
    result("c4", "oh", goal="2"),
    Rewound(Seq(20), title="turn 4"),
    turn(5, "2"),
    answered("that is it", goal="2"),
    RunStatusChanged("done"),
)


def said_on_the_path() -> list[str]:
    path = counted_path(reduce_all(STORY))
    told = (path.told(record) for record in STORY)
    return [r.event.message.text for r in told if r is not None and isinstance(r.event, MessageAdded)]


def test_what_was_given_up_or_rewound_is_left_out_but_the_user_s_words_stay() -> None:
    assert said_on_the_path() == [
        *("mend it", "first plan", "try the other way", "giving up", "ok", "that is it"),
    ]


def test_it_says_how_much_it_leaves_out() -> None:
    counts = left_out(counted_path(reduce_all(STORY)), STORY)
    assert (counts.n_goals, counts.n_messages, counts.n_rewound, counts.n_branches) == (2, 5, 2, 1)


def test_a_branch_that_could_be_adopted_and_was_not_is_left_out_and_no_other() -> None:
    state = reduce_all(STORY)
    assert set(counted_path(state).seen(state).branches) == {"2", "3"}


def test_the_plan_is_seen_without_the_goals_and_at_no_moment_with_a_focus_on_one() -> None:
    path = counted_path(reduce_all(STORY))
    for end in range(len(STORY) + 1):
        seen = path.seen(reduce_all(STORY[:end]))
        assert {goal.id for goal in seen.tree.walk()} <= {"2"}
        assert seen.tree.current_id in (None, "2")


def test_an_undone_rewind_gives_back_what_it_took() -> None:
    records = [*STORY, Record(Seq(len(STORY) + 1), AT, Rewound(Seq(22), how="undo"))]
    path = counted_path(reduce_all(records))
    texts = [
        told.event.message.text
        for record in records
        if (told := path.told(record)) is not None and isinstance(told.event, MessageAdded)
    ]
    assert "wrong turn" in texts
    assert "that is it" not in texts


def test_a_session_without_detours_is_told_whole() -> None:
    records = records_of(mission("x"), said("x"), turn(1), answered("y"))
    path = counted_path(reduce_all(records))
    assert [path.told(record) for record in records] == records
    assert left_out(path, records).n_messages == 0


# ── timeline ──


def test_a_turn_ends_with_its_last_result_and_before_the_user_s_next_word() -> None:
    records = records_of(
        RunStatusChanged("running"),
        mission("a"),
        said("a"),
        turn(1),
        answered("", call("c1", "bash")),
        result("c1", "ok"),
        turn(2),
        answered("done"),
        RunStatusChanged("done"),
        mission("b", "m2"),
        said("b"),
        turn(3),
        answered("done too"),
    )
    timeline = timeline_of(records)
    assert [(t.number, t.start, t.end) for t in timeline.turns] == [(1, 3, 6), (2, 6, 9), (3, 11, 13)]
    assert timeline.turn_end(13, -1) == 9
    assert timeline.turn_end(9, 1) == 13
    assert timeline.turn_end(0, -1) == 0
    assert timeline.end_of_turn(2) == 9
    assert timeline.end_of_turn(99) == 13


def test_goals_are_marked_where_they_begin_and_end_and_how() -> None:
    timeline = timeline_of(STORY)
    assert [(mark.place, mark.kind, mark.goal_id) for mark in timeline.marks] == [
        (6, "begun", "1.1"),
        (14, "given_up", "1.1"),
        (14, "given_up", "1"),
        (14, "begun", "2"),
        (23, "rewound", None),
    ]
    assert timeline.goal_begin(26, -1) == 14
    assert timeline.goal_begin(6, 1) == 14
    assert timeline.begin_of(GoalId("2")) == 14
    assert timeline.begin_of(GoalId("7")) is None


def test_a_trace_that_lost_its_turns_goes_by_replies() -> None:
    records = [record for record in STORY if not isinstance(record.event, TurnFinished)]
    assert [t.number for t in timeline_of(records).turns] == [1, 2, 3, 4, 5]


@given(st.lists(st.sampled_from(STORY), max_size=40), st.integers(-3, 45), st.sampled_from([-1, 1]))
def test_from_any_place_of_any_records_a_step_leads_on_or_to_an_end(
    records: list[Record], place: int, step: int
) -> None:
    timeline = timeline_of(records)
    place = max(0, min(place, len(records)))
    for found in (timeline.turn_end(place, step), timeline.goal_begin(place, step)):
        assert 0 <= found <= len(records)
        assert found > place if step > 0 and found < len(records) else True
        assert found < place or found == 0 if step < 0 else found >= place
    assert Timeline().turn_end(0, step) == 0
