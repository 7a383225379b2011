from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tori_tui.domain.goals import Budget, Evidence
from tori_tui.domain.ids import CallId, ContextId, GoalId, MissionId, Seq
from tori_tui.domain.messages import ContentPart, JsonObject, Message, ToolCall
from tori_tui.domain.plan_edits import PLAN_EDITS, GoalCompleted, GoalFocused, MissionOpened, PlanEdit
from tori_tui.domain.usage import Usage
from tori_tui.trace.codec import decode, encode
from tori_tui.trace.errors import BadLine, TraceTooNew

AT = datetime(2026, 1, 1, tzinfo=UTC)

_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_json_objects = st.dictionaries(st.text(), _json_values, max_size=4)
_finite = st.floats(allow_nan=False, allow_infinity=False)


def _strategy(hint: object) -> st.SearchStrategy[object]:
    if hint is float:
        return _finite
    if hint in (JsonObject, Mapping[str, object]):
        return _json_objects
    return st.from_type(hint)  # type: ignore[arg-type]


st.register_type_strategy(float, _finite)
st.register_type_strategy(Mapping, lambda _: _json_objects)

_events: st.SearchStrategy[DurableEvent] = st.one_of([st.from_type(cls) for cls in DURABLE_EVENTS])
_times = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))
_records = st.builds(Record, st.integers(1, 2**53).map(Seq), _times, _events)


def record(event: DurableEvent, seq: int = 1) -> Record:
    return Record(Seq(seq), AT, event)


@given(_records)
def test_every_durable_event_comes_back_as_it_was(written: Record) -> None:
    line = encode(written)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line) == written


@pytest.mark.parametrize("cls", DURABLE_EVENTS, ids=lambda cls: cls.kind)
def test_no_kind_of_event_is_forgotten(cls: type[DurableEvent]) -> None:
    @given(st.from_type(cls))
    def comes_back(event: DurableEvent) -> None:
        assert decode(encode(record(event))) == record(event)

    comes_back()
