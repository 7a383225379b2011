from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.messages import assistant, call, records, result, state_of, user
from tori_tui.domain.events import (
    DURABLE_EVENTS,
    ApprovalChanged,
    BranchChanged,
    CallStarted,
    CheckpointSaved,
    CommentMoved,
    CommentReceived,
    CommentRouted,
    ContextChanged,
    DurableEvent,
    ErrorOccurred,
    Fold,
    MemoryChanged,
    MessageAdded,
    MessagesFolded,
    PlanChanged,
    Rewound,
    RunStatusChanged,
    SessionNamed,
    TurnFinished,
)
from tori_tui.domain.goals import Budget, Evidence
from tori_tui.domain.ids import (
    MAIN_CONTEXT,
    ApprovalId,
    BranchId,
    CallId,
    CommentId,
    ContextId,
    GoalId,
    MissionId,
    Seq,
)
from tori_tui.domain.plan_edits import (
    PLAN_EDITS,
    EvidenceRecorded,
    GoalAbandoned,
    GoalAdded,
    GoalBudgetSet,
    GoalCheckSet,
    GoalCompleted,
    GoalFocused,
    GoalMoved,
    GoalPinned,
    GoalRenamed,
    MissionCheckSet,
    MissionOpened,
    PlanEdit,
)
from tori_tui.domain.state import SessionState, reduce, reduce_all
from tori_tui.domain.usage import Usage

IDS = st.sampled_from([GoalId(i) for i in ("1", "2", "1.1", "1'", "9", "odd")])
SOME_ID = st.none() | IDS
EDITS: st.SearchStrategy[PlanEdit] = st.one_of(
    st.builds(MissionOpened, st.sampled_from([MissionId("m1"), MissionId("m2")]), st.just("mission")),
    st.builds(MissionCheckSet, st.sampled_from([MissionId("m1"), MissionId("m3")]), st.just("make")),
    st.builds(GoalAdded, IDS, SOME_ID, st.just("goal"), after_id=SOME_ID, replaces=SOME_ID),
    st.builds(GoalFocused, SOME_ID),
    st.builds(GoalCompleted, IDS, st.just("done")),
    st.builds(GoalAbandoned, IDS, st.just("no")),
    st.builds(GoalRenamed, IDS, st.just("renamed")),
    st.builds(GoalMoved, IDS, SOME_ID),
    st.builds(GoalCheckSet, IDS, st.just("make")),
    st.builds(GoalPinned, IDS, st.booleans()),
    st.builds(GoalBudgetSet, IDS, st.just(Budget(3))),
    st.builds(EvidenceRecorded, IDS, st.just(Evidence("make", 0))),
)
SEQS = st.integers(1, 30).map(Seq)
CALLS = st.sampled_from([CallId("a"), CallId("b")])
COMMENTS = st.sampled_from([CommentId("c1"), CommentId("c2")])
MESSAGES = st.one_of(
    st.just(user("hi")),
    st.builds(lambda i: assistant("", call(i, "bash"), goal="1"), CALLS),
    st.builds(lambda i: result(i, "bash", "ok", goal="1", details={"changed_paths": ["a.py"]}), CALLS),
)
FOLDS = st.builds(Fold, st.lists(SEQS, max_size=4).map(tuple), st.sampled_from(["", "folded"]), SOME_ID)
EVENTS: st.SearchStrategy[DurableEvent] = st.one_of(
    MESSAGES.map(MessageAdded),
    st.builds(
        PlanChanged,
        st.lists(EDITS, max_size=4).map(tuple),
        st.sampled_from(["model", "user", "comment", "runner"]),
        call_id=st.none() | CALLS,
        message_seq=st.none() | SEQS,
        goal_id=SOME_ID,
    ),
    st.builds(MessagesFolded, st.just(MAIN_CONTEXT), st.just("why"), st.lists(FOLDS, max_size=3).map(tuple)),
    st.builds(TurnFinished, st.integers(1, 9), st.just(MAIN_CONTEXT), SOME_ID, st.just("m"), st.just("end")),
    st.builds(CallStarted, CALLS, st.just("bash")),
    st.builds(
        RunStatusChanged, st.sampled_from(["running", "done", "idle"]), cwd=st.sampled_from(["", "/x"])
    ),
    st.builds(CheckpointSaved, st.just("tree"), st.just("turn")),
    st.builds(SessionNamed, st.text(max_size=3)),
    st.builds(
        MemoryChanged,
        st.sampled_from(["session", "project"]),
        st.sampled_from(["set", "forgotten"]),
        st.sampled_from(["memo", "a", "7"]),
        st.sampled_from(["", "value"]),
    ),
    st.builds(Rewound, SEQS, st.booleans(), st.booleans(), st.sampled_from(["rewind", "undo", "redo"])),
    st.builds(CommentReceived, COMMENTS, st.just("said")),
    st.builds(CommentMoved, COMMENTS, st.none() | COMMENTS),
    st.builds(
        CommentRouted,
        COMMENTS,
        st.just("current"),
        st.just("user"),
        st.lists(EDITS, max_size=2).map(tuple),
    ),
    st.builds(
        ApprovalChanged,
        st.just(ApprovalId("p")),
        CALLS,
        st.just("bash"),
        st.just("run"),
        st.sampled_from(["asked", "allowed", "denied"]),
    ),
    st.builds(
        ContextChanged,
        st.sampled_from([ContextId("review"), MAIN_CONTEXT]),
        st.sampled_from(["opened", "switched", "configured", "closed"]),
    ),
    st.builds(
        BranchChanged,
        st.sampled_from([BranchId("1"), BranchId("2")]),
        CALLS,
        st.sampled_from(["planned", "started", "turn", "ended", "adopted"]),
        SOME_ID,
        usage=st.just(Usage(10, 1)),
        cost_usd=st.sampled_from([None, 0.5]),
    ),
    st.builds(ErrorOccurred, st.just("tool"), st.just("broke")),
)


def test_every_kind_is_among_the_random_ones() -> None:
    assert len(DURABLE_EVENTS) == 17
    assert len(PLAN_EDITS) == 12


@settings(max_examples=300, deadline=None)
@given(st.lists(EVENTS, max_size=25))
def test_any_records_fold_and_no_earlier_state_changes(events: list[DurableEvent]) -> None:
    state = SessionState()
    seen = [(state, repr(state), tuple(state.log))]
    for record in records(events):
        state = reduce(state, record)
        seen.append((state, repr(state), tuple(state.log)))
    assert reduce_all(records(events)) == state
    for earlier, shown, log in seen:
        assert repr(earlier) == shown
        assert tuple(earlier.log) == log


def test_goal_sums_up_what_it_took_with_its_children() -> None:
    added = PlanChanged(
        (GoalAdded(GoalId("1"), None, "A"), GoalAdded(GoalId("1.1"), GoalId("1"), "B")), "model"
    )
    turn = TurnFinished(
        1, MAIN_CONTEXT, GoalId("1.1"), "m", "end", Usage(10, 2), cost_usd=0.5, duration_s=1.0
    )
    state = state_of(
        added,
        turn,
        assistant("", call("a", "edit_file"), goal="1"),
        result("a", "edit_file", "ok", goal="1", details={"changed_paths": ["a.py"]}),
    )
    stats = state.stats_of(GoalId("1"))
    assert (stats.turns, stats.calls, stats.cost_usd) == (1, 1, 0.5)
    assert stats.changed_paths == ("a.py",)
    assert state.stats_of(GoalId("9")).turns == 0


def test_ended_goals_are_marked_until_their_fold() -> None:
    added = PlanChanged(
        (GoalAdded(GoalId("1"), None, "A"), GoalAdded(GoalId("1.1"), GoalId("1"), "B")), "model"
    )
    ended = PlanChanged((GoalCompleted(GoalId("1.1"), "ok"), GoalCompleted(GoalId("1"), "ok")), "model")
    state = state_of(added, ended, user("hi"))
    assert state.ended_goals == ("1.1", "1")
    fold = MessagesFolded(MAIN_CONTEXT, "", (Fold((Seq(3),), "x", GoalId("1")),))
    assert state_of(added, ended, user("hi"), fold).ended_goals == ()


def test_goal_below_an_unknown_one_changes_nothing() -> None:
    orphan = PlanChanged((GoalAdded(GoalId("7.1"), GoalId("7"), "lost"),), "model")
    assert state_of(orphan).tree == SessionState().tree
