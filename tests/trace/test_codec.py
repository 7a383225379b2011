from __future__ import annotations

import dataclasses
import json
import math
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trace.records import AT, EVENTS, message, record
from tori_tui.domain.events import (
    DURABLE_EVENTS,
    DurableEvent,
    MessageAdded,
    NoticeShown,
    PlanChanged,
    Record,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, Seq
from tori_tui.domain.messages import JsonObject, ToolCall
from tori_tui.domain.plan_edits import PLAN_EDITS, GoalFocused, PlanEdit
from tori_tui.domain.usage import Usage
from tori_tui.trace.codec import _SHAPES, decode, encode
from tori_tui.trace.errors import BadLine, TraceTooNew

_times = st.integers(-(10**13), 10**13).map(lambda ms: AT + timedelta(milliseconds=ms))
_records = st.builds(Record, st.integers(1, 2**53).map(Seq), _times, EVENTS)


@settings(deadline=None)
@given(_records)
def test_every_durable_event_comes_back_as_it_was(written: Record) -> None:
    line = encode(written)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line) == written


@pytest.mark.parametrize("cls", DURABLE_EVENTS, ids=lambda cls: cls.kind)
def test_no_kind_of_event_is_forgotten(cls: type[DurableEvent]) -> None:
    @settings(deadline=None)
    @given(st.from_type(cls))
    def comes_back(event: DurableEvent) -> None:
        assert decode(encode(record(event))) == record(event)

    comes_back()


def fields_of(line: bytes) -> dict[str, object]:
    return dict(json.loads(line))


def test_a_message_is_flattened_and_defaults_are_left_out() -> None:
    call = ToolCall(CallId("c1"), "read_file", {"path": "a.py"})
    assert fields_of(encode(record(message(tool_calls=(call,), usage=Usage(5, 2)), seq=17))) == {
        "v": 1,
        "seq": 17,
        "ts": "2026-01-01T00:00:16.000Z",
        "kind": "message",
        "context": "main",
        "goal_id": "2.1",
        "role": "assistant",
        "content": "Hello",
        "tool_calls": [{"id": "c1", "name": "read_file", "arguments": {"path": "a.py"}}],
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }


def test_the_first_fields_stand_in_the_order_of_the_contract() -> None:
    assert list(fields_of(encode(record(message()))))[:4] == ["v", "seq", "ts", "kind"]


def test_the_goal_stands_there_even_where_there_is_none() -> None:
    assert fields_of(encode(record(message(goal_id=None))))["goal_id"] is None


@pytest.mark.parametrize("cls", PLAN_EDITS, ids=lambda cls: cls.op)
def test_every_plan_edit_carries_its_tag_and_comes_back(cls: type[PlanEdit]) -> None:
    @settings(deadline=None)
    @given(st.from_type(cls))
    def comes_back(edit: PlanEdit) -> None:
        written = record(PlanChanged((edit, GoalFocused(None)), "model"))
        line = encode(written)
        assert [e["op"] for e in json.loads(line)["edits"]] == [cls.op, "goal_focused"]
        assert decode(line) == written

    comes_back()


def _nested_classes(hint: object) -> set[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        below = (_nested_classes(inner) for inner in get_type_hints(hint).values())
        return {hint}.union(*below)
    return set().union(*(_nested_classes(inner) for inner in get_args(hint)))


def test_no_class_that_stands_in_a_record_is_written_with_its_defaults() -> None:
    reached: set[type] = set().union(*(_nested_classes(cls) for cls in DURABLE_EVENTS))
    assert reached <= set(_SHAPES)
    assert len(reached) > len(DURABLE_EVENTS) + len(PLAN_EDITS)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_no_text_stops_a_write(text: str) -> None:
    back = decode(encode(record(message(content=text, details={text: [text]}))))
    assert back is not None
    assert isinstance(back.event, MessageAdded)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert back.event.message.text == whole
    assert back.event.message.details == {whole: [whole]}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (MappingProxyType({"a": MappingProxyType({"b": (1, 2)})}), {"a": {"b": [1, 2]}}),
        ({"path": Path("a/b")}, {"path": "a/b"}),
        ({"n": 2**80, "nan": float("nan")}, {"n": 2**80, "nan": None}),
        ({1: {(2, 3): "x"}}, {"1": {"(2, 3)": "x"}}),
    ],
)
def test_values_that_json_does_not_know_are_written_all_the_same(value: JsonObject, read: object) -> None:
    back = decode(encode(record(message(details=value))))
    assert back is not None
    assert isinstance(back.event, MessageAdded)
    assert back.event.message.details == read


def test_arguments_nested_without_end_are_written_and_read() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert decode(encode(record(message(details={"deep": nested})))) is not None


def test_a_number_that_json_has_no_word_for_is_left_out() -> None:
    turn = TurnFinished(1, MAIN_CONTEXT, None, "m", "stop", cost_usd=math.inf, latency_s=math.nan)
    back = decode(encode(record(turn)))
    assert back == record(dataclasses.replace(turn, cost_usd=None, latency_s=0.0))


def test_a_time_of_another_zone_is_written_as_utc() -> None:
    at = datetime(2026, 1, 1, 2, 30, tzinfo=timezone(timedelta(hours=2)))
    line = encode(Record(Seq(1), at, RunStatusChanged("running")))
    assert fields_of(line)["ts"] == "2026-01-01T00:30:00.000Z"


def test_unknown_keys_and_unknown_plan_edits_are_passed_over() -> None:
    line = json.dumps(
        {
            "v": 1,
            "seq": 3,
            "ts": "2026-01-01T00:00:02.000Z",
            "kind": "plan",
            "author": "model",
            "colour": "red",
        }
        | {"edits": [{"op": "goal_painted", "id": "1"}, {"op": "goal_focused", "id": "1", "colour": "red"}]}
    )
    assert decode(line.encode()) == record(PlanChanged((GoalFocused(GoalId("1")),), "model"), seq=3)


def test_an_unknown_kind_is_none() -> None:
    assert decode(b'{"v":1,"seq":3,"ts":"2026-01-01T00:00:00.000Z","kind":"painting"}') is None


@pytest.mark.parametrize(
    "line", [b'{"v":2}', b'{"v":7,"seq":"a","when":1}', encode(record(message())).replace(b'"v":1', b'"v":2')]
)
def test_a_newer_format_names_both_versions(line: bytes) -> None:
    with pytest.raises(TraceTooNew, match=r"format version [27]; .* up to 1"):
        decode(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"null",
        b"[]",
        b'{"v":0,"seq":1,"ts":"2026-01-01T00:00:00Z","kind":"run","status":"idle"}',
        b'{"v":1,"seq":0,"ts":"2026-01-01T00:00:00Z","kind":"run","status":"idle"}',
        b'{"v":1,"seq":1,"ts":"2026-01-01T00:00:00","kind":"run","status":"idle"}',
        b'{"v":1,"seq":1,"ts":"2026-01-01T00:00:00Z","kind":"run","status":"dancing"}',
        b'{"v":1,"seq":1,"ts":"2026-01-01T00:00:00Z","kind":"run"}',
        b'{"v":1,"seq":1,"ts":"2026-01-01T00:00:00Z","kind":"plan","author":"user","edits":[{}]}',
        b'{"v":1,"seq":1,"ts":"2026-01-01T00:00:00Z","kind":"error","scope":"tool","message":"\x80"}',
        b'{"v":1,"seq":1,"ts":' + b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_record_is_told_apart(line: bytes) -> None:
    with pytest.raises(BadLine):
        decode(line)


@settings(deadline=None)
@given(st.binary())
def test_rubbish_raises_nothing_but_bad_line(line: bytes) -> None:
    with pytest.raises(BadLine):
        decode(line)


def test_transient_events_cannot_be_written_and_read_back() -> None:
    assert NoticeShown not in _SHAPES
