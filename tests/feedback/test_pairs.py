from __future__ import annotations

from collections import Counter

import pytest

from tests.feedback.pairs import PAIRS, Pair, plan_of
from tori_tui.context.classify import classifier_rules
from tori_tui.domain.ids import GoalId
from tori_tui.domain.routing import Verdict, route


def test_the_table_is_large_has_every_impact_and_both_languages() -> None:
    assert len(PAIRS) >= 60
    assert min(Counter(pair.impact for pair in PAIRS).values()) >= 8
    assert sum(any("\u4e00" <= char <= "\u9fff" for char in pair.comment) for pair in PAIRS) >= 20


def test_no_pair_stands_in_the_prompts_own_examples() -> None:
    rules = classifier_rules()
    assert [pair.comment for pair in PAIRS if pair.comment in rules] == []


@pytest.mark.parametrize("pair", PAIRS, ids=[str(n) for n in range(len(PAIRS))])
def test_a_right_verdict_is_routed_as_the_table_says(pair: Pair) -> None:
    verdict = Verdict(pair.impact, tuple(map(GoalId, pair.goals)), pair.rejects)
    routing = route(plan_of(pair.plan), pair.comment, verdict)
    assert routing.impact == pair.impact
    assert routing.cancels == (
        pair.impact in ("past", "requirement_change") or (pair.impact == "current" and pair.rejects)
    )
