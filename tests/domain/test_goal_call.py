from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.trees import called, mission, worked_example
from tori_tui.domain.goal_call import (
    MAX_DEPTH,
    GoalRefused,
    GoalWishes,
    abandon_goal,
    describe_outcome,
    needs_check,
    parse_goal_id,
    plan_goal_call,
    reopen,
)
from tori_tui.domain.goals import Evidence, GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    PlanEdit,
    apply_edits,
)


def outline(tree: GoalTree) -> list[str]:
    return [f"{goal.id} {goal.status} {goal.description}" for goal in tree.walk()]


def refusal(tree: GoalTree, **wishes: str) -> str:
    with pytest.raises(GoalRefused) as caught:
        plan_goal_call(tree, GoalWishes(**wishes))
    return str(caught.value)


def test_goals_are_added_under_the_focus_else_at_the_top() -> None:
    tree = called(mission(), add="A, B", focus="1")
    tree = called(tree, add="C, D")
    assert [goal.id for goal in tree.walk()] == ["1", "1.1", "1.2", "2"]


def test_focus_may_name_a_goal_just_added_and_starts_its_ancestors() -> None:
    tree = called(called(mission(), add="A"), focus="1")
    tree = called(tree, add="B", focus="1.1")
    assert outline(tree) == ["1 in_progress A", "1.1 in_progress B"]
    assert tree.current_id == "1.1"


def test_done_moves_the_focus_to_the_parent_and_add_follows_it() -> None:
    tree = called(called(mission(), add="A", focus="1"), add="B", focus="1.1")
    tree = called(tree, done="made it", add="C")
    assert outline(tree) == ["1 in_progress A", "1.1 completed B", "1.2 pending C"]
    assert tree.current_id == "1"
    assert tree.goals[0].children[0].summary == "made it"


def test_done_at_the_top_leaves_no_focus() -> None:
    tree = called(called(mission(), add="A, B", focus="1"), done="ok")
    assert tree.current_id is None


def test_abandon_takes_open_goals_along_and_leaves_ended_ones() -> None:
    tree = called(called(mission(), add="A", focus="1"), add="B, C", focus="1.1")
    tree = called(tree, done="fine", focus="1")
    tree = called(tree, abandon="wrong way")
    assert outline(tree) == ["1 abandoned A", "1.1 completed B", "1.2 abandoned C"]
    assert tree.goals[0].summary == "wrong way"
    assert tree.current_id is None


def test_abandon_with_add_makes_replacements_behind_the_abandoned_goal() -> None:
    tree = called(mission(), add="A, B, C", focus="2")
    tree = called(tree, abandon="no", add="D, E", focus="2''")
    tree = called(tree, abandon="no", add="F")
    assert [goal.id for goal in tree.goals] == ["1", "2", "2'", "2''", "2'''", "3"]
    assert [goal.superseded_by for goal in tree.goals] == [None, "2'", None, "2'''", None, None]
    assert tree.missions[0].goal_ids == ("1", "2", "2'", "2''", "2'''", "3")


def test_replacement_below_another_keeps_its_parents_primes() -> None:
    tree = called(called(mission(), add="A", focus="1"), abandon="no", add="B", focus="1p")
    tree = called(tree, add="C", focus="1'.1")
    tree = called(tree, abandon="no", add="D", focus="1'.1'")
    assert outline(tree)[-3:] == ["1' in_progress B", "1'.1 abandoned C", "1'.1' in_progress D"]


def test_numbers_of_replaced_goals_never_come_back() -> None:
    tree = called(called(mission(), add="A, B", focus="2"), abandon="no", add="B again")
    assert called(tree, add="C").goals[-1].id == "3"


def test_ids_go_on_counting_in_the_next_mission() -> None:
    tree = called(mission(), add="A, B")
    tree = called(mission("more", tree), add="C")
    assert [goal.id for goal in tree.mission_goals] == ["3"]


def test_check_stays_on_the_goal_and_is_asked_for_before_done() -> None:
    tree = called(mission(), add="A [check: make test]", focus="1")
    edits = plan_goal_call(tree, GoalWishes(done="ok"))
    waiting = needs_check(tree, edits)
    assert waiting is not None
    assert waiting.check == "make test"
    checked = (GoalCompleted(GoalId("1"), "ok", Evidence("make test", 0)), *edits[1:])
    assert needs_check(tree, checked) is None
    assert needs_check(tree, plan_goal_call(tree, GoalWishes(abandon="no"))) is None


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_blank_arguments_are_not_asked_for(blank: str | None) -> None:
    tree = mission()
    edits = plan_goal_call(tree, GoalWishes(add="A", done=blank, abandon=blank, focus=blank))
    assert [type(edit) for edit in edits] == [GoalAdded]


def test_refusals_say_what_to_do_instead() -> None:
    empty = mission()
    open_below = called(called(empty, add="A", focus="1"), add="B, C")
    finished = called(called(empty, add="A, B", focus="1"), done="ok")
    assert "add, done" in refusal(empty)
    assert "exclude" in refusal(open_below, done="x", abandon="y")
    assert "1.1 B, 1.2 C" in refusal(open_below, done="x")
    assert "no goal 7" in refusal(open_below, focus="7")
    assert "1.1 B" in refusal(open_below, focus="7")
    assert "none is focused" in refusal(finished, done="again")
    assert "none is focused" in refusal(finished, abandon="again")
    assert "completed and stays so" in refusal(finished, focus="1")
    assert "no goal id" in refusal(finished, focus="the next one")


def test_finished_goal_names_the_one_that_took_its_place() -> None:
    tree = called(called(mission(), add="A", focus="1"), abandon="no", add="B")
    assert "1' took its place" in refusal(tree, focus="1")


def test_goal_of_an_earlier_mission_is_not_focused() -> None:
    tree = mission("next", called(mission(), add="A"))
    assert "earlier mission" in refusal(tree, focus="1")


def test_goals_do_not_nest_without_end() -> None:
    tree = mission()
    for _ in range(MAX_DEPTH):
        tree = called(tree, add="deeper", focus=".".join(["1"] * (len(list(tree.walk())) + 1)))
    assert "levels deep" in refusal(tree, add="one too many")


@pytest.mark.parametrize(
    ("text", "goal_id"),
    [
        ("2", "2"),
        (" 2.1 ", "2.1"),
        ("2p", "2'"),
        ("2PP.1p", "2''.1'"),
        ("2’", "2'"),
        ("2″", "2''"),
        ("goal 3", "3"),
        ("#3", "3"),
        ("3.", "3"),
        ("2'.2 Login endpoint", "2'.2"),
        ("2 plan", "2"),
    ],
)
def test_ids_are_read_as_they_are_meant(text: str, goal_id: str) -> None:
    assert parse_goal_id(text) == goal_id


@pytest.mark.parametrize("text", ["", "next", "2x", "-1", "1..2", "p"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(GoalRefused):
        parse_goal_id(text)


def test_outcome_tells_change_path_and_next_goal() -> None:
    before = called(mission(), add="Analyse, Build, Test", focus="1")
    edits = plan_goal_call(before, GoalWishes(done="it is simple", add="Ship", focus="2"))
    after = apply_edits(before, edits)
    assert describe_outcome(before, after, edits) == (
        "Done: 1 Analyse.\nAdded: 4 Ship.\nCurrent: 2 Build.\nNext pending: 3 Test."
    )


def test_outcome_asks_for_a_focus_where_there_is_none() -> None:
    before = called(mission(), add="Analyse, Build", focus="1")
    edits = plan_goal_call(before, GoalWishes(done="ok"))
    told = describe_outcome(before, apply_edits(before, edits), edits)
    assert told.endswith('Next pending: 2 Build. Focus it: goal(focus="2").')


def test_outcome_of_the_last_goal_sends_to_the_answer() -> None:
    before = called(mission(), add="Analyse", focus="1")
    edits = plan_goal_call(before, GoalWishes(done="ok"))
    assert "No goal is open" in describe_outcome(before, apply_edits(before, edits), edits)


def test_outcome_of_many_goals_stays_short() -> None:
    before = mission()
    edits = plan_goal_call(before, GoalWishes(add=[f"goal {n} {'word ' * 99}" for n in range(300)]))
    assert len(describe_outcome(before, apply_edits(before, edits), edits)) < 1_500


def test_reopening_makes_a_replacement_and_leaves_the_old_goal() -> None:
    tree = called(called(mission(), add="A [check: make], B", focus="1"), done="ok")
    tree = apply_edits(tree, reopen(tree, GoalId("1")))
    assert outline(tree) == ["1 completed A", "1' pending A", "2 pending B"]
    assert (tree.goals[0].superseded_by, tree.goals[1].check) == ("1'", "make")


def test_reopening_twice_takes_the_newest_replacement() -> None:
    tree = called(called(mission(), add="A", focus="1"), done="ok")
    tree = called(apply_edits(tree, reopen(tree, GoalId("1"))), focus="1'")
    with pytest.raises(GoalRefused, match="is open"):
        reopen(tree, GoalId("1"))
    tree = called(tree, done="ok")
    tree = apply_edits(tree, reopen(tree, GoalId("1")))
    assert [goal.id for goal in tree.goals] == ["1", "1'", "1''"]


def test_reopened_goal_below_a_finished_one_gives_its_focus_to_an_open_goal() -> None:
    tree = called(called(mission(), add="A", focus="1"), add="B", focus="1.1")
    tree = called(called(tree, done="ok"), done="ok")
    tree = called(apply_edits(tree, reopen(tree, GoalId("1.1"))), focus="1.1'")
    tree = called(tree, done="again")
    assert tree.current_id is None


def test_root_goal_of_an_earlier_mission_reopens_in_the_present_one() -> None:
    tree = called(called(mission(), add="A", focus="1"), add="B", focus="1.1")
    tree = mission("next", called(called(tree, done="ok"), done="ok"))
    with pytest.raises(GoalRefused, match="earlier mission"):
        reopen(tree, GoalId("1.1"))
    tree = apply_edits(tree, reopen(tree, GoalId("1")))
    assert [goal.id for goal in tree.mission_goals] == ["1'"]


def test_dropping_another_goal_leaves_the_focus() -> None:
    tree = called(mission(), add="A, B", focus="1")
    edits = abandon_goal(tree, GoalId("2"), "not wanted")
    assert edits == (GoalAbandoned(GoalId("2"), "not wanted"),)
    edits = abandon_goal(tree, GoalId("1"), "not wanted")
    assert edits == (GoalAbandoned(GoalId("1"), "not wanted"), GoalFocused(None))


def test_worked_example_stands_as_expected() -> None:
    tree = worked_example()
    assert tree.current_id == "2'.2"
    assert tree.progress() == (2, 5)


WORDS = st.sampled_from(["A", "A, B", "A\nB\nC", "A [check: make]", ""])
IDS = st.sampled_from(["1", "2", "3", "1.1", "1.2", "2.1", "1'", "2'", "1.1'", "2p", "1pp", "9", "x"])
CALLS = st.lists(
    st.builds(
        GoalWishes,
        add=st.none() | WORDS | st.lists(WORDS, max_size=2),
        done=st.sampled_from([None, None, "done"]),
        abandon=st.sampled_from([None, None, None, "given up"]),
        focus=st.none() | IDS,
    ),
    max_size=14,
)
ALLOWED = {
    ("pending", "pending"),
    ("pending", "in_progress"),
    ("pending", "abandoned"),
    ("in_progress", "in_progress"),
    ("in_progress", "completed"),
    ("in_progress", "abandoned"),
    ("completed", "completed"),
    ("abandoned", "abandoned"),
}


@settings(max_examples=300, deadline=None)
@given(CALLS, st.lists(IDS, max_size=3))
def test_any_calls_keep_ids_unique_and_statuses_on_their_way(
    calls: list[GoalWishes], reopened: list[str]
) -> None:
    tree = mission()
    given_out: list[GoalId] = []
    for number, wishes in enumerate(calls):
        edits = _tried(tree, wishes, reopened[number : number + 1])
        after = apply_edits(tree, edits)
        given_out += [edit.id for edit in edits if isinstance(edit, GoalAdded)]
        ids = [goal.id for goal in after.walk()]
        assert len(set(given_out)) == len(given_out)
        assert sorted(ids) == sorted(given_out)
        for goal in tree.walk():
            later = after.find(goal.id)
            assert later is not None
            assert (goal.status, later.status) in ALLOWED
        assert after.current is None or after.current.is_open
        tree = after


def _tried(tree: GoalTree, wishes: GoalWishes, reopened: list[str]) -> tuple[PlanEdit, ...]:
    before = repr(tree)
    try:
        return plan_goal_call(tree, wishes)
    except GoalRefused:
        is_unchanged = repr(tree) == before
    assert is_unchanged
    try:
        return reopen(tree, parse_goal_id(reopened[0])) if reopened else ()
    except GoalRefused:
        return ()
