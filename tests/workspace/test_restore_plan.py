from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tori_tui.workspace.restore_plan import Doer, RestorePlan, SavedState, plan_restore
from tori_tui.workspace.tree_changes import Change, Entry

Tree = Mapping[str, Entry]
Work = list[tuple[Doer, Mapping[str, Entry | None]]]

PATHS = st.sampled_from(["a", "b", "c/d", ".gitignore"])
CONTENTS = st.none() | st.sampled_from(["1", "2", "3"]).map(lambda name: Entry("100644", name))
EDITS = st.dictionaries(PATHS, CONTENTS, max_size=3)
WORK = st.lists(st.tuples(st.sampled_from(["agent", "user"]), EDITS), min_size=1, max_size=6)
START = st.dictionaries(PATHS, CONTENTS.filter(bool), max_size=4)


def edited(tree: Tree, edits: Mapping[str, Entry | None]) -> Tree:
    return {path: entry for path, entry in {**tree, **edits}.items() if entry is not None}


def changes(before: Tree, after: Tree) -> dict[str, Change]:
    paths = {*before, *after}
    return {p: Change(before.get(p), after.get(p)) for p in paths if before.get(p) != after.get(p)}


def planned(start: Tree, work: Work) -> tuple[list[Tree], RestorePlan]:
    trees = [start]
    for _, edits in work:
        trees.append(edited(trees[-1], edits))
    chain = [SavedState("t0"), *(SavedState(f"t{n}", by) for n, (by, _) in enumerate(work, 1))]
    return trees, plan_restore(chain, [changes(a, b) for a, b in pairwise(trees)])


def carried_out(tree: Tree, plan: RestorePlan) -> Tree:
    for step in plan.steps:
        assert tree.get(step.path) == step.now
    return edited(tree, {step.path: step.then for step in plan.steps})


@given(START, WORK)
def test_a_users_last_word_on_a_path_stands_and_all_else_goes_back(start: Tree, work: Work) -> None:
    trees, plan = planned(start, work)
    result = carried_out(trees[-1], plan)
    for path in {path for tree in trees for path in tree} - set(plan.left_alone):
        wanted = start.get(path)
        for (by, _), before, after in zip(work, trees, trees[1:], strict=False):
            if by == "user" and before.get(path) != after.get(path):
                wanted = after.get(path)
        assert result.get(path) == wanted


@given(START, WORK)
def test_what_was_there_at_the_beginning_is_deleted_only_by_the_user(start: Tree, work: Work) -> None:
    trees, plan = planned(start, work)
    result = carried_out(trees[-1], plan)
    by_user = {
        p
        for (by, _), a, b in zip(work, trees, trees[1:], strict=False)
        if by == "user"
        for p in changes(a, b)
    }
    assert set(start) - by_user <= set(result)


@given(START, WORK)
def test_the_agents_work_alone_goes_back_whole(start: Tree, work: Work) -> None:
    trees, plan = planned(start, [("agent", edits) for _, edits in work])
    if not plan.left_alone:
        assert carried_out(trees[-1], plan) == start
    assert plan.kept == ()
