from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.test_routing import tree
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.plan_edits import apply_edits
from tori_tui.domain.plan_page import HEAD, plan_page, read_plan_page

PAGE = f"""{HEAD}
[✓] 1 Read
[→] 2 Write
    [✓] 2.1 Draft
    [→] 2.2 Polish
[ ] 3 Test
"""


def after(page: str) -> GoalTree:
    return apply_edits(tree(), read_plan_page(tree(), page))


def shape(made: GoalTree) -> list[str]:
    return [f"{goal.id} {goal.description} {goal.status}" for goal in made.walk()]


def test_the_page_shows_the_plan_and_unchanged_it_changes_nothing() -> None:
    assert plan_page(tree()) == PAGE
    assert read_plan_page(tree(), PAGE) == ()


def test_new_lines_become_goals_where_they_stand() -> None:
    made = after(PAGE.replace("[ ] 3 Test", "Measure [check: make bench]\n[ ] 3 Test\n    On Windows"))
    assert [goal.id for goal in made.goals] == ["1", "2", "4", "3"]
    assert [goal.description for goal in made.goals[3].children] == ["On Windows"]
    assert (made.goals[2].check, made.goals[2].check_by) == ("make bench", "user")


def test_a_line_that_is_gone_drops_its_goal_and_a_changed_one_renames_it() -> None:
    made = after(PAGE.replace("[ ] 3 Test\n", "").replace("Polish", "Polish it well"))
    assert shape(made)[3:] == ["2.2 Polish it well in_progress", "3 Test abandoned"]


def test_lines_can_change_places() -> None:
    made = after(f"{HEAD}\n[ ] 3 Test\n[✓] 1 Read\n[→] 2 Write\n    2.2 Polish\n    2.1 Draft\n")
    assert [goal.id for goal in made.goals] == ["3", "1", "2"]
    assert [goal.id for goal in made.goals[2].children] == ["2.2", "2.1"]


def test_what_was_done_stays_done_whatever_the_page_says() -> None:
    made = after(HEAD)
    assert [goal.status for goal in made.walk()] == [
        "completed",
        "abandoned",
        "completed",
        "abandoned",
        "abandoned",
    ]


@pytest.mark.parametrize("page", ["[ ] 9 Nothing", "[ ] 3 Test\n[ ] 3 Test"])
def test_a_number_that_is_not_there_or_twice_is_refused(page: str) -> None:
    with pytest.raises(GoalRefused):
        read_plan_page(tree(), page)


@given(page=st.text(max_size=200) | st.lists(st.sampled_from(PAGE.splitlines()), max_size=9).map("\n".join))
def test_any_page_is_edits_or_a_refusal_and_ids_stay_unique(page: str) -> None:
    try:
        made = after(page)
    except GoalRefused:
        return
    ids = [goal.id for goal in made.walk()]
    assert len(ids) == len(set(ids))
    assert {goal.id for goal in tree().walk()} <= set(ids)
