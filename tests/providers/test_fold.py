from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.requests import folded
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import ProviderPart
from tori_tui.providers.base import (
    CallDelta,
    ProviderPartReceived,
    StreamEvent,
    StreamFinished,
    TextDelta,
)
from tori_tui.providers.fold import CALL_ID, read_arguments
from tori_tui.providers.http_failure import retry_after_s
from tori_tui.providers.surrogates import PieceMender, mend


def call_events(*ids: str) -> list[StreamEvent]:
    deltas: list[StreamEvent] = [
        CallDelta(f"call{number}", CallId(call_id), "bash", "{}") for number, call_id in enumerate(ids)
    ]
    return [*deltas, StreamFinished("calls")]


def test_ids_that_the_session_has_or_that_are_equal_empty_or_odd_become_new_ones() -> None:
    reply = folded(call_events("call_0", "a", "a", "", "fc|1", "x" * 65), frozenset({"call_0", "new_1"}))
    assert [call.id for call in reply.tool_calls] == ["new_2", "a", "new_3", "new_4", "new_5", "new_6"]


@given(st.lists(st.text(max_size=3), max_size=6), st.frozensets(st.text(max_size=3), max_size=4))
def test_ids_are_always_unique_and_sendable(ids: list[str], used: frozenset[str]) -> None:
    given_ids = [call.id for call in folded(call_events(*ids), used).tool_calls]
    assert len(set(given_ids) | used) == len(given_ids) + len(used)
    assert all(CALL_ID.fullmatch(call_id) for call_id in given_ids)


def test_a_part_belongs_to_the_call_that_follows_it_under_its_final_id() -> None:
    def part(name: str) -> ProviderPartReceived:
        return ProviderPartReceived(ProviderPart("anthropic", "claude", {"name": name}))

    events: list[StreamEvent] = [
        part("first"),
        TextDelta("text"),
        CallDelta("call0", CallId("used"), "bash", "{}"),
        part("second"),
        CallDelta("call1", CallId("b"), "bash", "{}"),
        part("last"),
        StreamFinished("calls"),
    ]
    reply = folded(events, frozenset({"used"}))
    assert [part.call_id for part in reply.provider_parts] == ["new_1", "b", None]


LETTERS = st.text("abcdef", max_size=4)


@given(st.recursive(st.none() | st.booleans() | LETTERS | st.integers(), st.lists))
def test_json_that_is_no_object_is_left_to_the_model_but_null_means_nothing(value: object) -> None:
    assert read_arguments(json.dumps(value)) == ({} if value is None else None)


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_an_object_is_read_as_it_is_also_when_it_is_quoted(value: dict[str, object]) -> None:
    mended = {mend(key): mend(item) if isinstance(item, str) else item for key, item in value.items()}
    assert read_arguments(json.dumps(value)) == mended
    assert read_arguments(json.dumps(json.dumps(value))) == mended


def test_arguments_nested_beyond_reason_are_left_to_the_model() -> None:
    assert read_arguments('{"a":' * 100_000) is None


@given(st.text(st.characters(max_codepoint=0x1FFFF)), st.data())
def test_text_in_pieces_is_mended_like_the_whole(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    pieces = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    cut = data.draw(st.integers(0, len(pieces)))
    mender = PieceMender()
    shown = mender.feed("".join(pieces[:cut])) + mender.feed("".join(pieces[cut:])) + mender.finish()
    assert shown == mend("".join(pieces))
    shown.encode()


@pytest.mark.parametrize(
    ("headers", "wish_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        (
            {"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"},
            30.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_the_server_s_wish_is_read_in_every_form(headers: dict[str, str], wish_s: float | None) -> None:
    assert retry_after_s(headers) == wish_s
