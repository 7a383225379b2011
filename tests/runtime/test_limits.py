from __future__ import annotations

from dataclasses import replace

from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage
from tori_tui.runtime.limits import Limits, limit_reached, run_start


def test_a_run_pays_only_for_itself() -> None:
    before = SessionState(n_turns=150, usage=Usage(1_000_000, 5), cost_usd=9.0)
    start = run_start(before, 100.0)
    limits = Limits(turns=10, tokens=100, cost_usd=1.0, seconds=60)
    assert limit_reached(limits, start, before, 100.0) is None
    assert limit_reached(limits, start, replace(before, n_turns=159), 100.0) is None
    reached = limit_reached(limits, start, replace(before, n_turns=160), 100.0)
    assert reached is not None
    assert (reached.name, reached.text) == ("turns", "10 of 10 turns")


def test_each_limit_is_named_with_what_was_spent() -> None:
    start = run_start(SessionState(), 0.0)
    spent = SessionState(usage=Usage(90, 10), cost_usd=0.5)
    tokens = limit_reached(Limits(tokens=100), start, spent, 0.0)
    cost = limit_reached(Limits(cost_usd=0.5), start, spent, 0.0)
    seconds = limit_reached(Limits(seconds=3), start, spent, 3.5)
    assert tokens is not None
    assert cost is not None
    assert seconds is not None
    assert tokens.text == "100 of 100 tokens"
    assert cost.text == "$0.50 of $0.50"
    assert seconds.text == "4 of 3 seconds"


def test_a_raised_limit_is_doubled_and_the_others_stay() -> None:
    assert Limits(turns=10, seconds=5).raised("turns") == Limits(turns=20, seconds=5)
