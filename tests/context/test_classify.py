from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.test_routing import tree
from tori_tui.context.classify import classify_request, read_verdicts
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.events import CommentReceived
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.routing import INJECTION, Verdict
from tori_tui.providers.catalogue import profile_for

GOOD = '[{"remark": 1, "impact": "past", "goals": ["1"], "rejects": true, "confidence": 0.8}]'
VERDICT = Verdict("past", (GoalId("1"),), True, 0.8)


def test_the_question_holds_plan_and_remarks_and_stays_small() -> None:
    comments = [CommentReceived(CommentId(f"c{n}"), f"remark {n} " + "x" * 5_000) for n in range(3)]
    request = classify_request(tree(), comments, profile_for("openai-chat/m"))
    words = request.messages[0].text
    assert "[→] 2. Write" in words
    assert '1. "remark 0 ' in words
    whole = request.system[0].text + words
    assert estimate_tokens(whole) < 1_500
    assert request.tools == ()


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here it is:\n{GOOD}\nDone.",
        GOOD[1:-1],
        GOOD.replace('"remark": 1, ', ""),
    ],
)
def test_a_reply_that_is_nearly_right_is_understood(reply: str) -> None:
    assert read_verdicts(reply, 1) == (VERDICT,)


def test_each_comment_gets_its_own_verdict_and_those_left_out_are_injected() -> None:
    reply = json.dumps([{"remark": 3, "impact": "future", "goals": []}, {"remark": 1, "impact": "nonsense"}])
    first, second, third = read_verdicts(reply, 3)
    assert (first, second) == (INJECTION, INJECTION)
    assert third.impact == "future"


@given(reply=st.text(max_size=300), n=st.integers(1, 8))
def test_no_reply_can_break_the_reading(reply: str, n: int) -> None:
    assert len(read_verdicts(reply, n)) == n


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["remark", "impact", "goals", "confidence", "rejects"]), inner, max_size=5
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_can_break_the_reading(value: object) -> None:
    assert len(read_verdicts(json.dumps([value]), 2)) == 2
