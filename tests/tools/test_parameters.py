from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from tori_tui.domain.messages import JsonObject
from tori_tui.tools.base import ArgumentsInvalid
from tori_tui.tools.parameters import parse, schema_of


class Copy(msgspec.Struct, frozen=True):
    path: Annotated[str, Meta(description="file to copy")]
    mode: Literal["fast", "safe"] = "fast"
    limit: Annotated[int, Meta(ge=1, le=50)] | None = None
    ratio: float = 1.0
    deep: bool = False
    tags: list[str] = []
    new_name: str | None = None


def test_the_schema_is_flat_and_short() -> None:
    assert schema_of(Copy) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "file to copy"},
            "mode": {"type": "string", "enum": ["fast", "safe"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "new_name": {"type": "string"},
        },
        "required": ["path"],
    }


def test_the_schema_can_be_written_as_json_and_is_the_same_each_time() -> None:
    assert json.dumps(schema_of(Copy)) == json.dumps(schema_of(Copy))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a"}, Copy("a")),
        ({"path": "a", "limit": "10"}, Copy("a", limit=10)),
        ({"path": "a", "limit": 10.0}, Copy("a", limit=10)),
        ({"path": "a", "limit": None, "deep": None}, Copy("a")),
        ({"path": "a", "deep": "true"}, Copy("a", deep=True)),
        ({"path": 2.1}, Copy("2.1")),
        ({"path": "a", "tags": "x"}, Copy("a", tags=["x"])),
        ({"path": "a", "tags": '["x", "y"]'}, Copy("a", tags=["x", "y"])),
        ({"path": "[1]"}, Copy("[1]")),
        ({"path": "a", "newName": "b"}, Copy("a", new_name="b")),
        ({"path": ""}, Copy("")),
    ],
)
def test_right_and_nearly_right_arguments_are_taken(arguments: JsonObject, expected: Copy) -> None:
    assert parse(Copy, arguments, "copy") == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["copy", "`path` is missing", "a string (file to copy)", "nothing"]),
        ({"path": None}, ["`path` is missing"]),
        ({"path": "a", "limit": "ten"}, ["`limit`", '"ten"', "a whole number"]),
        ({"path": "a", "limit": 0}, ["`limit`", "0", ">= 1"]),
        ({"path": "a", "limit": 1.5}, ["`limit`", "1.5"]),
        ({"path": "a", "deep": "maybe"}, ["`deep`", '"maybe"', "true or false"]),
        ({"path": "a", "mode": "slow"}, ["`mode`", '"slow"', "one of fast, safe"]),
        ({"path": {"x": 1}}, ["`path`", '{"x": 1}']),
        ({"path": True}, ["`path`", "true"]),
        ({"path": "a", "colour": "red"}, ["no parameter `colour`", '"red"', "path, mode"]),
        ({"path": "a", "Path": "b"}, ["no parameter `Path`"]),
    ],
)
def test_wrong_arguments_name_field_value_and_what_is_expected(
    arguments: JsonObject, words: list[str]
) -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        parse(Copy, arguments, "copy")
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_long_wrong_value_is_cut_in_the_error() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        parse(Copy, {"path": "a", "limit": "x" * 5_000}, "copy")
    assert len(str(caught.value)) < 400


def test_arguments_are_not_changed() -> None:
    arguments: Mapping[str, object] = {"path": "a", "tags": "x", "limit": None}
    parse(Copy, arguments, "copy")
    assert arguments == {"path": "a", "tags": "x", "limit": None}
