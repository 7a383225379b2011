from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.views import due
from tests.fakes.messages import AT, assistant, call, result, state_of, user
from tori_tui.context.build import (
    REFRESH_LIMIT_TOKENS,
    BuiltRequest,
    PlacementSetting,
    Prefix,
    build_request,
    chosen_placement,
)
from tori_tui.context.plan import plan_block
from tori_tui.context.system_prompt import SystemParts
from tori_tui.domain.events import DurableEvent, MessageAdded, PlanChanged, Record
from tori_tui.domain.goal_call import GoalRefused, GoalWishes, plan_goal_call
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId, MissionId
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused, GoalRenamed, MissionOpened, PlanEdit
from tori_tui.domain.request import ModelProfile, ToolSpec
from tori_tui.domain.state import SessionState, reduce

PROFILE: Final = ModelProfile("openai-chat/m", "openai-chat", "m", "m", 200_000, 8_000)
LATE: Final = replace(PROFILE, late_system=True)
SYSTEM: Final = SystemParts("the rules", "the surroundings")
TOOLS: Final = (ToolSpec("bash", "Run a command.", {"type": "object"}),)

MISSION: Final = PlanChanged((MissionOpened(MissionId("m1"), "the mission"),), "user")
GOALS: Final = PlanChanged(
    (GoalAdded(GoalId("1"), None, "A"), GoalAdded(GoalId("2"), None, "B"), GoalFocused(GoalId("1"))), "model"
)
LONG: Final = "a line of output\n" * 3_000
"""More than the context under which a leading plan is rendered anew each time."""


def built(
    state: SessionState,
    *,
    profile: ModelProfile = PROFILE,
    placement: PlacementSetting = "auto",
    before: Prefix | None = None,
    is_cold: bool = False,
) -> BuiltRequest:
    return build_request(
        state,
        context=MAIN_CONTEXT,
        profile=profile,
        system=SYSTEM,
        tools=TOOLS,
        placement=placement,
        before=before,
        is_cold=is_cold,
    )


def after(state: SessionState, *events: DurableEvent | Message) -> SessionState:
    for event in events:
        said = MessageAdded(event) if isinstance(event, Message) else event
        state = reduce(state, Record(state.next_seq, AT, said))
    return state


def prefix(request: BuiltRequest) -> tuple[object, ...]:
    whole = request.request
    return (*whole.system, *whole.tools, *whole.messages)


@pytest.mark.parametrize("placement", ["leading", "live"])
def test_plan_is_the_last_system_block(placement: PlacementSetting) -> None:
    state = state_of(MISSION, GOALS, user("do it"))
    request = built(state, placement=placement).request
    assert [block.name for block in request.system] == ["rules", "environment", "plan"]
    assert request.system[-1].text == plan_block(state.tree)
    assert request.late_system is None


def test_late_plan_stands_behind_the_history() -> None:
    state = state_of(MISSION, GOALS, user("do it"))
    request = built(state, profile=LATE).request
    assert [block.name for block in request.system] == ["rules", "environment"]
    assert request.late_system == plan_block(state.tree)


def test_placement_follows_the_model_unless_it_is_set() -> None:
    assert chosen_placement("auto", LATE) == "late"
    assert chosen_placement("auto", PROFILE) == "leading"
    assert chosen_placement("live", LATE) == "live"


def test_leading_plan_is_fresh_while_the_context_is_small() -> None:
    state = state_of(MISSION, user("do it"))
    first = built(state)
    second = built(after(state, GOALS), before=first.prefix)
    assert "1. A" in second.request.system[-1].text
    assert second.rewrite == "plan"


def large_state() -> SessionState:
    return state_of(
        MISSION, user("do it"), assistant("", call("c1", "bash")), result("c1", "bash", LONG), GOALS
    )


def renamed(author: str) -> PlanChanged:
    edits = (GoalRenamed(GoalId("2"), "Better"),)
    return PlanChanged(edits, "user") if author == "user" else PlanChanged(edits, "model")


def test_leading_plan_stays_as_sent_in_a_large_context() -> None:
    state = large_state()
    first = built(state)
    assert sum(section.tokens for section in first.sections) > REFRESH_LIMIT_TOKENS
    second = built(after(state, renamed("model"), assistant("ok"), user("go on")), before=first.prefix)
    assert "2. B" in second.request.system[-1].text
    assert second.rewrite is None
    third = built(after(state, renamed("model")), before=second.prefix, is_cold=True)
    assert "2. Better" in third.request.system[-1].text
    assert third.rewrite == "plan"


def test_leading_plan_is_fresh_after_the_users_edit_a_fold_a_new_mission_and_another_model() -> None:
    state = large_state()
    first = built(state)
    assert built(after(state, renamed("user")), before=first.prefix).rewrite == "plan"
    opened = PlanChanged((MissionOpened(MissionId("m2"), "the next mission"),), "user")
    assert "the next mission" in built(after(state, opened), before=first.prefix).request.system[-1].text
    given_up = after(state, PlanChanged(plan_goal_call(state.tree, GoalWishes(abandon="no")), "model"))
    assert built(given_up, before=first.prefix).rewrite is None
    other = built(given_up, profile=replace(PROFILE, name="openai-chat/n"), before=first.prefix)
    assert other.rewrite == "model openai-chat/n"
    assert "[✗] 1. A" in other.request.system[-1].text


def test_fold_is_a_rewrite_with_its_reason() -> None:
    state = after(large_state(), assistant("trying", goal="1"))
    first = built(state)
    state = after(state, PlanChanged(plan_goal_call(state.tree, GoalWishes(abandon="no")), "model"))
    fold = due(state, "balanced")
    assert fold is not None
    second = built(after(state, fold), before=first.prefix)
    assert second.rewrite == "goal 1 abandoned"
    assert "[✗] 1. A" in second.request.system[-1].text


def test_first_request_is_no_rewrite() -> None:
    assert built(large_state()).rewrite is None


def test_sections_say_what_was_sent_and_keep_the_texts_by_hash() -> None:
    request = built(state_of(MISSION, user("do it")))
    assert [section.name for section in request.sections] == [
        "rules",
        "environment",
        "tools",
        "plan",
        "messages",
    ]
    hashed = {section.name: section.sha256 for section in request.sections if section.sha256}
    assert request.texts[hashed["rules"]] == "the rules"
    assert request.texts[hashed["plan"]] == request.request.system[-1].text
    assert request.sections[-1].seqs == (2, 2)


def test_cache_marks_stand_at_the_users_word_the_goals_start_and_the_tail() -> None:
    state = state_of(
        MISSION,
        user("do it"),
        assistant("", call("c0", "goal")),
        result("c0", "goal", "ok"),
        GOALS,
        assistant("", call("c1", "bash"), goal="1"),
        result("c1", "bash", "out", goal="1"),
    )
    assert built(state).request.cache_marks == (0, 2, 4)


def test_long_session_never_drops_the_users_words() -> None:
    said = [user(f"word {n}") for n in range(300)]
    messages = built(state_of(MISSION, *said)).request.messages
    assert [m.text for m in messages] == [m.text for m in said]


STEPS = st.lists(
    st.sampled_from(["say", "add", "focus", "done", "abandon", "comment", "work", "edit", "mission"]),
    max_size=25,
)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.sampled_from(["balanced", "now"]), st.sampled_from(["late", "leading", "live"]))
def test_request_extends_the_one_before_it_unless_it_says_why_not(
    steps: list[str], profile_name: str, placement: PlacementSetting
) -> None:
    state = state_of(MISSION, user("do it"))
    request = built(state, placement=placement)
    for number, step in enumerate(steps):
        state = _stepped(state, step, number)
        fold = due(state, profile_name)
        state = after(state, fold) if fold else state
        later = built(state, placement=placement, before=request.prefix)
        if later.rewrite is None:
            assert prefix(later)[: len(prefix(request))] == prefix(request)
        words = [e.message.text for e in state.log if e.message.is_users_word]
        assert [m.text for m in later.request.messages if m.is_users_word] == words
        request = later


def _stepped(state: SessionState, step: str, number: int) -> SessionState:
    wishes = {
        "add": GoalWishes(add="X, Y"),
        "focus": GoalWishes(focus=state.tree.open_goals[0].id if state.tree.open_goals else "9"),
        "done": GoalWishes(done="it works"),
        "abandon": GoalWishes(abandon="no way", add="Z"),
    }
    match step:
        case "comment":
            return after(state, replace(user(f"comment {number}"), origin="comment"))
        case "edit":
            return after(state, PlanChanged((GoalRenamed(GoalId("1"), f"name {number}"),), "user"))
        case "mission":
            opened = MissionOpened(MissionId(f"m{number}"), f"mission {number}")
            return after(state, PlanChanged((opened,), "user"), user(f"mission {number}"))
        case "say" | "work":
            edits: tuple[PlanEdit, ...] = ()
        case _:
            try:
                edits = plan_goal_call(state.tree, wishes[step])
            except GoalRefused:
                edits = ()
    call_id = f"c{number}"
    asked = call(call_id, "goal" if edits else "bash", path="a.py")
    focus = state.tree.current_id
    for edit in edits:
        focus = edit.id if isinstance(edit, GoalFocused) else focus
    said = assistant(f"turn {number}", asked, goal=focus)
    answer = result(call_id, asked.name, LONG if step == "work" else "ok", goal=focus)
    plan = [PlanChanged(edits, "model")] if edits else []
    tail = [user(f"go on {number}")] if step == "say" else []
    return after(state, said, *plan, answer, *tail)
