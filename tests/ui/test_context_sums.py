from __future__ import annotations

from tori_tui.domain.inspection import SentTotals
from tori_tui.ui.widgets.context_pane import told_sums


def cache_line(saved: int, expected: int) -> str:
    totals = SentTotals(2, 30_000, saved, expected, 100, 0.0, False, ())
    return next(line for line in told_sums(totals) if line.startswith("Cache"))


def test_a_cache_that_saved_more_than_was_expected_saved_all() -> None:
    assert cache_line(10_000, 21_000) == "Cache: saved 10k of 21k that it should have"
    assert cache_line(23_000, 21_000) == "Cache: saved 23k tokens, all that it should have"
