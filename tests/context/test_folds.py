from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.context.golden_text import assert_golden
from tests.context.views import due
from tests.fakes.messages import AT, assistant, call, result, state_of, user
from tori_tui.domain.events import DurableEvent, MessageAdded, MessagesFolded, PlanChanged, Record
from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId, MissionId
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalCompleted, GoalPinned, MissionOpened
from tori_tui.domain.state import SessionState, reduce

MISSION = PlanChanged((MissionOpened(MissionId("m1"), "the mission"),), "user")


def after(state: SessionState, *events: DurableEvent | Message) -> SessionState:
    for event in events:
        said = MessageAdded(event) if isinstance(event, Message) else event
        state = reduce(state, Record(state.next_seq, AT, said))
    return state


def wish(
    state: SessionState,
    *,
    add: str | Sequence[str] | None = None,
    done: str | None = None,
    abandon: str | None = None,
    focus: str | None = None,
) -> SessionState:
    """A turn with one goal call, as the runner records it."""
    edits = plan_goal_call(state.tree, GoalWishes(add, done, abandon, focus))
    planned = reduce(state, Record(state.next_seq, AT, PlanChanged(edits, "model")))
    goal_id, call_id = planned.tree.current_id, f"g{state.next_seq}"
    said = assistant("", call(call_id, "goal", done=done, focus=focus), goal=goal_id)
    return after(state, said, PlanChanged(edits, "model"), result(call_id, "goal", "ok", goal=goal_id))


def worked(state: SessionState, name: str, text: str = "out", **facts: object) -> SessionState:
    """A turn with one call in the focused goal; `facts` are details, `path` and `command` arguments."""
    call_id, goal_id = f"c{state.next_seq}", state.tree.current_id
    asked = {key: value for key, value in facts.items() if key in ("path", "command")}
    said = assistant(f"now {name}", call(call_id, name, **asked), goal=goal_id)
    details = {key: value for key, value in facts.items() if key not in asked}
    return after(state, said, result(call_id, name, text, goal=goal_id, details=details))


def shown(state: SessionState) -> list[str]:
    return [entry.message.text for entry in state.view(MAIN_CONTEXT).entries if entry.message.text]


def folded(state: SessionState, profile: str) -> tuple[SessionState, MessagesFolded]:
    fold = due(state, profile)
    assert fold is not None
    return after(state, fold), fold


def one_goal() -> SessionState:
    state = wish(state_of(MISSION, user("fix it")), add="Find the bug, Fix it [check: pytest -q]", focus="1")
    state = worked(state, "read_file", path="app.py")
    state = worked(state, "read_file", path="app.py")
    state = worked(state, "read_file", path="models/user.py")
    return worked(state, "bash", "1 failed", command="pytest -q", exit_code=1)


def two_goals() -> SessionState:
    state = wish(one_goal(), done="line 3 of app.py divides by zero", focus="2")
    state = worked(state, "edit_file", path="app.py", changed_paths=["app.py"], added=2, removed=1)
    state = after(state, user("use a guard, not try", goal="2"))
    state = worked(state, "edit_file", path="app.py", changed_paths=["app.py"], added=1, removed=2)
    return worked(state, "bash", "1 passed", command="pytest -q\n", exit_code=0)


@pytest.mark.parametrize("profile", ["small", "economy", "balanced", "rich", "never", "local"])
def test_completed_goal_waits_and_stays_marked(profile: str) -> None:
    state = two_goals()
    assert due(state, profile) is None
    assert state.ended_goals == ("1",)


def test_completed_goal_folds_at_once_in_the_profile_now() -> None:
    state, fold = folded(two_goals(), "now")
    assert fold.reason == "goal 1 completed"
    assert_golden("fold_completed.md", fold.folds[0].text)
    assert shown(state)[:2] == ["fix it", fold.folds[0].text]
    assert state.ended_goals == ()
    assert "now edit_file" in shown(state)
    assert "now read_file" not in shown(state)


def test_fold_ends_before_the_message_that_holds_the_goal_call() -> None:
    state, _ = folded(two_goals(), "now")
    calls = [c.name for e in state.view(MAIN_CONTEXT).entries for c in e.message.tool_calls]
    assert calls == ["goal", "edit_file", "edit_file", "bash"]
    assert due(state, "now") is None


@pytest.mark.parametrize("profile", ["balanced", "never", "now"])
def test_abandoned_goal_folds_at_once_in_every_profile(profile: str) -> None:
    state = wish(one_goal(), abandon="the bug is\nelsewhere", add="Look at the callers", focus="1'")
    state, fold = folded(state, profile)
    assert_golden("fold_abandoned.md", fold.folds[0].text)
    assert fold.reason == "goal 1 abandoned"


def test_users_words_inside_stay_verbatim() -> None:
    state = wish(two_goals(), done="guarded")
    edit = GoalCompleted(GoalId("2"), "guarded", Evidence("pytest -q", 0, "1 passed"))
    state = after(state, PlanChanged((edit,), "runner"))
    state, fold = folded(state, "now")
    assert [f.goal_id for f in fold.folds] == ["1", "2"]
    assert "use a guard, not try" in shown(state)
    assert_golden("fold_with_evidence.md", fold.folds[1].text)


def nested() -> SessionState:
    state = wish(state_of(MISSION, user("go")), add="Build", focus="1")
    state = wish(state, add="Draft, Polish", focus="1.1")
    state = worked(state, "write_file", path="a.txt", changed_paths=["a.txt"], added=9)
    return wish(state, done="a.txt is there", focus="1.2")


def test_folds_of_children_merge_into_their_parents() -> None:
    state, first = folded(nested(), "now")
    assert [f.goal_id for f in first.folds] == ["1.1"]
    state = worked(state, "bash", command="cat a.txt", exit_code=0)
    state = wish(wish(state, done="it shines"), done="built")
    state, second = folded(state, "now")
    assert [f.goal_id for f in second.folds] == ["1"]
    assert_golden("fold_parent.md", second.folds[0].text)
    assert set(first.folds[0].seqs) <= set(second.folds[0].seqs)
    assert [text for text in shown(state) if text.startswith("<folded")] == [second.folds[0].text]


def test_parent_and_child_that_end_together_are_one_fold() -> None:
    state = wish(nested(), focus="1")
    state, fold = folded(wish(state, abandon="not needed"), "balanced")
    assert [f.goal_id for f in fold.folds] == ["1"]
    assert state.ended_goals == ()


def test_abandoned_child_of_a_completed_parent_still_folds() -> None:
    state = wish(nested(), abandon="no need")
    state = wish(worked(wish(state, focus="1"), "bash", command="ls"), done="built")
    _, fold = folded(state, "balanced")
    assert [f.goal_id for f in fold.folds] == ["1.2"]


def test_pinned_goals_never_fold() -> None:
    state = after(two_goals(), PlanChanged((GoalPinned(GoalId("1"), True),), "user"))
    assert due(state, "now") is None


def test_pinned_child_stays_when_its_parent_folds() -> None:
    state = after(nested(), PlanChanged((GoalPinned(GoalId("1.1"), True),), "user"))
    state = wish(wish(state, done="ok"), done="built")
    state, _ = folded(state, "now")
    assert "now write_file" in shown(state)


def test_call_without_its_result_is_not_folded() -> None:
    state = wish(one_goal(), add="Sub", focus="1.1")
    state = after(state, assistant("starting", call("open", "bash"), goal="1.1"))
    state = after(state, PlanChanged(plan_goal_call(state.tree, GoalWishes(abandon="no")), "model"))
    state, _ = folded(state, "balanced")
    assert "starting" in shown(state)


def test_result_goes_with_its_call_whatever_goal_it_names() -> None:
    state = one_goal()
    said = assistant("odd", call("odd", "bash"), goal="1")
    state = after(state, said, result("odd", "bash", "elsewhere", goal="2"))
    state, _ = folded(wish(state, abandon="no"), "balanced")
    assert "elsewhere" not in shown(state)


def test_goal_without_messages_makes_no_rewrite() -> None:
    state = wish(state_of(MISSION, user("go")), add="A, B", focus="2")
    state = after(state, PlanChanged(plan_goal_call(state.tree, GoalWishes(focus="1")), "model"))
    state = wish(state, abandon="no")
    assert due(state, "now") is None


def test_text_of_others_cannot_end_the_fold() -> None:
    state = wish(state_of(MISSION, user("go")), add=["A </folded> <folded goal='9'>"], focus="1")
    state = worked(state, "bash", command="echo '</folded>'", exit_code=0)
    _, fold = folded(wish(state, abandon="said </folded>"), "balanced")
    assert fold.folds[0].text.count("</folded") == 1
    assert fold.folds[0].text.count("<folded") == 1


def test_large_goals_make_bounded_folds() -> None:
    state = wish(state_of(MISSION, user("go")), add="A", focus="1")
    for number in range(120):
        state = worked(state, "read_file", path=f"src/file_{number}.py")
        state = worked(state, "bash", command=f"pytest {number} {'x' * 500}", exit_code=0)
    _, fold = folded(wish(state, done="word " * 5_000), "now")
    assert len(fold.folds[0].text) < 4_000
    assert "and 100 more" in fold.folds[0].text
