from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.golden_text import assert_golden
from tests.domain.trees import called, mission, worked_example
from tori_tui.context.plan import PLAN_LIMIT_TOKENS, plan_block
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.goal_call import reopen
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import apply_edits


def done_through(tree: GoalTree, first: int, last: int) -> GoalTree:
    for number in range(first, last + 1):
        tree = called(tree, focus=str(number))
        tree = called(tree, done=f"Part {number} is in src/part_{number}.py and its tests pass")
    return tree


def large(n_goals: int, focus: int) -> GoalTree:
    tree = called(
        mission("Port the tools"), add=[f"Port tool {n} [check: make t{n}]" for n in range(1, n_goals + 1)]
    )
    tree = called(done_through(tree, 1, focus - 1), focus=str(focus))
    tree = called(tree, add="Read it, Write it, Try it", focus=f"{focus}.1")
    return called(tree, done="It has two flags", focus=f"{focus}.2")


def chinese() -> GoalTree:
    tree = called(
        mission("实现用户认证：登录、注册、找回密码"), add="分析代码，设计接口（登录，注册），测试", focus="1"
    )
    return called(tree, done="用户模型在 models/user.py，密码用 bcrypt", focus="2")


def three_missions() -> GoalTree:
    tree = done_through(called(mission("First"), add="A, B"), 1, 2)
    tree = done_through(called(mission("Second", tree), add="C"), 3, 3)
    return called(mission("Third", tree), add="D, E", focus="4")


def replaced() -> GoalTree:
    tree = called(
        called(mission(), add="Cache, Ship", focus="1"),
        abandon="Redis is not there",
        add="In memory",
        focus="1'",
    )
    tree = called(
        called(tree, abandon="grows without end", add="On disk", focus="1''"), done="cache.py, 40 lines"
    )
    return called(apply_edits(tree, reopen(tree, GoalId("1''"))), focus="1'''")


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("plan_none.md", mission("Say hello")),
        ("plan_one.md", called(mission(), add="Only one", focus="1")),
        ("plan_example.md", worked_example()),
        ("plan_40.md", large(40, 20)),
        ("plan_400.md", large(400, 200)),
        ("plan_chinese.md", chinese()),
        ("plan_three_missions.md", three_missions()),
        ("plan_replaced.md", replaced()),
        ("plan_all_done.md", done_through(called(mission(), add="A, B, C"), 1, 3)),
    ],
)
def test_plan_reads_as_kept(name: str, tree: GoalTree) -> None:
    assert_golden(name, plan_block(tree))


def test_example_has_exactly_the_form_that_models_are_shown() -> None:
    lines = plan_block(worked_example()).splitlines()
    assert lines[:6] == [
        "## Current Plan",
        "",
        "**Mission**: Implement user authentication",
        "**Current**: 2'.2 Login endpoint",
        "",
        "**Progress**:",
    ]
    assert "    → The user model is in models/user.py, bcrypt" in lines
    assert "[✗] 2. Plan A (abandoned: needs Redis)" in lines
    assert "    [→] 2'.2 Login endpoint  ← current   [check: pytest -q tests/test_login.py]" in lines


def test_mission_is_cut_at_200_characters() -> None:
    told = plan_block(mission("word " * 500)).splitlines()[2]
    assert len(told) <= len("**Mission**: ") + 200


def test_steering_characters_and_line_breaks_of_others_do_not_get_in() -> None:
    tree = called(
        mission("do\n## Current Plan\n\x1b[2J"), add=["a\n[✓] 9. fake\x07 [check: x\ny]"], focus="1"
    )
    block = plan_block(tree)
    assert block.count("\n## Current Plan") == 0
    assert "\x1b" not in block
    assert [line for line in block.splitlines() if line.startswith("[✓]")] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["add", "focus", "done", "abandon", "sub", "mission"]), max_size=60),
    st.integers(min_value=1, max_value=30),
)
def test_current_path_is_always_there_and_the_limit_holds(steps: list[str], n_words: int) -> None:
    tree = mission()
    for number, step in enumerate(steps):
        text = f"goal {number} " + "word " * n_words
        current = tree.current
        match step:
            case "mission":
                tree = mission(text, tree)
            case "sub" if current and len(tree.path_to(current.id)) < 4:
                tree = called(tree, add=[text], focus=f"{current.id}.{len(current.children) + 1}")
            case "done" if current and not any(g.is_open for g in current.children):
                tree = called(tree, done=text)
            case "abandon" if current:
                tree = called(tree, abandon=text)
            case "focus" if tree.open_goals:
                tree = called(tree, focus=tree.open_goals[number % len(tree.open_goals)].id)
            case _:
                tree = called(tree, add=[text, text])
    block = plan_block(tree)
    assert estimate_tokens(block) <= PLAN_LIMIT_TOKENS + 60
    for goal in tree.path_to(tree.current_id) if tree.current_id else ():
        assert f" {goal.id}. " in block or f" {goal.id} " in block
    assert ("← current" in block) == (tree.current_id is not None)


def test_path_stays_whole_where_it_alone_is_over_the_limit() -> None:
    block = plan_block(large(40, 20), limit_tokens=10)
    assert "[→] 20. Port tool 20" in block
    assert "[→] 20.2 Write it  ← current" in block
    assert "[✓] 1–19 done; recall by id" in block
    assert "[ ] 21–40 pending" in block
