from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tori_tui.domain.log import Log

BOUND = st.none() | st.integers(-8, 8)


@given(st.lists(st.integers()), st.integers(), st.integers())
def test_a_version_never_sees_what_another_appended(entries: list[int], one: int, other: int) -> None:
    log = Log(entries)
    longer, again = log.appended(one), log.appended(other)
    assert list(log) == entries
    assert list(longer) == [*entries, one]
    assert list(again) == [*entries, other]
    assert list(reversed(log)) == entries[::-1]
    assert list(reversed(longer)) == [one, *entries[::-1]]


@given(st.lists(st.integers(), max_size=6), BOUND, BOUND, st.sampled_from([None, 1, 2, -1, -3]))
def test_a_part_is_that_of_a_list(
    entries: list[int], start: int | None, stop: int | None, step: int | None
) -> None:
    log = Log(entries)
    _ = log.appended(99)
    assert list(log[start:stop:step]) == entries[start:stop:step]
