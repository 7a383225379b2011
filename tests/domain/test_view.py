from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.messages import assistant, call, result, state_of, user
from tori_tui.domain.events import Fold, MessagesFolded, PlanChanged
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message
from tori_tui.domain.view import View, add_message, fold_view, reassign


def shown(view: View) -> list[str]:
    return [entry.message.text for entry in view.entries]


def view_of(*texts: str) -> View:
    view = View()
    for seq, text in enumerate(texts, 1):
        view = add_message(view, Seq(seq), user(text))
    return view


def fold(text: str, *seqs: int) -> Fold:
    return Fold(tuple(Seq(seq) for seq in seqs), text, GoalId("1"))


def test_fold_stands_where_its_first_message_stood() -> None:
    view = fold_view(view_of("a", "b", "c", "d"), MAIN_CONTEXT, [fold("B+D", 2, 4)], "why")
    assert shown(view) == ["a", "B+D", "c"]
    assert (view.n_rewrites, view.last_rewrite) == (1, "why")


def test_fold_without_text_removes() -> None:
    assert shown(fold_view(view_of("a", "b"), MAIN_CONTEXT, [fold("", 1)], "")) == ["b"]


def test_fold_takes_earlier_folds_in() -> None:
    view = fold_view(view_of("a", "b", "c"), MAIN_CONTEXT, [fold("A+B", 1, 2)], "")
    assert shown(fold_view(view, MAIN_CONTEXT, [fold("all", 1, 2, 3)], "")) == ["all"]


def test_fold_that_names_a_part_of_an_earlier_fold_leaves_it() -> None:
    view = fold_view(view_of("a", "b", "c"), MAIN_CONTEXT, [fold("A+B", 1, 2)], "")
    assert shown(fold_view(view, MAIN_CONTEXT, [fold("B+C", 2, 3)], "")) == ["A+B", "B+C"]


def test_old_version_of_a_view_is_not_changed_by_a_newer_one() -> None:
    old = view_of("a")
    new = add_message(old, Seq(2), user("b"))
    other = add_message(old, Seq(2), user("c"))
    assert (shown(old), shown(new), shown(other)) == (["a"], ["a", "b"], ["a", "c"])


def test_interrupted_message_stays_outside() -> None:
    cut = Message(MAIN_CONTEXT, None, "assistant", "half", interrupted=True)
    assert shown(add_message(view_of("a"), Seq(2), cut)) == ["a"]


def test_reassigned_messages_change_their_goal_and_nothing_visible() -> None:
    view = view_of("a", "b", "c")
    moved = reassign(view, frozenset({Seq(2), Seq(3)}), GoalId("1"))
    assert [entry.message.goal_id for entry in moved.entries] == [None, "1", "1"]
    assert (shown(moved), moved.n_rewrites) == (shown(view), 0)


def test_refused_goal_call_gives_its_message_back() -> None:
    state = state_of(
        user("do it"),
        assistant("", call("c1", "goal", done="x"), call("c2", "bash"), goal="2"),
        result("c1", "goal", "red", goal="2"),
        PlanChanged((), "model", refused="red", message_seq=Seq(2), goal_id=GoalId("1")),
    )
    assert [entry.message.goal_id for entry in state.log] == [None, "1", "1"]
    assert [entry.message.goal_id for entry in state.view(MAIN_CONTEXT).entries] == [None, "1", "1"]
    assert [open_call.goal_id for open_call in state.open_calls.values()] == ["1"]


def test_fold_record_changes_only_its_own_context() -> None:
    state = state_of(user("a"), MessagesFolded(MAIN_CONTEXT, "", (fold("A", 1),)))
    assert shown(state.view(MAIN_CONTEXT)) == ["A"]
    assert len(state.log) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers()), max_size=30))
def test_versions_of_a_log_share_and_never_see_each_other(steps: list[tuple[int, int]]) -> None:
    versions: list[tuple[Log[int], list[int]]] = [(Log(), [])]
    for parent, value in steps:
        log, plain = versions[parent % len(versions)]
        versions.append((log.appended(value), [*plain, value]))
    for log, plain in versions:
        assert list(log) == plain
        assert log[1:] == tuple(plain[1:])
        assert len(log) == len(plain)
