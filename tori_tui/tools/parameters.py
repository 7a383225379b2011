"""How a tool declares its parameters once: a msgspec struct gives both the schema and the check.

Must not know any tool; what a value means is the tool's own business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec
from msgspec import NODEFAULT, UNSET, inspect

from tori_tui.domain.messages import JsonObject
from tori_tui.tools.base import ArgumentsInvalid

StructT = TypeVar("StructT", bound=msgspec.Struct)

SHOWN_LIMIT_CHARS: Final = 80
"""How much of a wrong value an error repeats."""

EXPECTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "string": "a string",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "an object",
    }
)


@cache
def schema_of(struct_type: type[msgspec.Struct]) -> JsonObject:
    """Return the JSON Schema of a tool's parameters: flat, in the order of the fields.

    Optional fields stand without their default and without `null`; what a default does belongs into
    the field's description where the model needs it.
    """
    return _object_schema(inspect.type_info(struct_type))


def parse(struct_type: type[StructT], arguments: JsonObject, tool_name: str) -> StructT:
    """Return the arguments as the tool's own struct.

    What is nearly right and has only one meaning is accepted: `"10"` for a number, `"true"` for a
    boolean, a number for a string, one value for a list, `null` for an optional field, `filePath` for
    `file_path`.

    Raises:
        ArgumentsInvalid: Names the field, the value and what is expected.
    """
    known = _fields(struct_type)
    given = _by_field_name(arguments, known, tool_name)
    values: dict[str, object] = {}
    for name, field in known.items():
        is_optional = field.default is not NODEFAULT or field.default_factory is not NODEFAULT
        value = given.get(name)
        if value is None and is_optional:
            continue
        if value is None:
            raise _missing(struct_type, name, given, tool_name)
        values[name] = _converted(struct_type, name, field.type, value, tool_name)
    return struct_type(**values)


@cache
def text_of(tool_name: str) -> str:
    """Return what the model is told of a tool: the `.md` file beside the tool's module."""
    # importlib.resources would add 16 ms to each start; a wheel is always installed as plain files.
    return Path(__file__).with_name(f"{tool_name}.md").read_text("utf-8").strip()


@cache
def _fields(struct_type: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    return {field.name: field for field in msgspec.structs.fields(struct_type)}


def _object_schema(info: inspect.Type) -> dict[str, object]:
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"not a struct: {info!r}")
    properties = {field.encode_name: _schema(field.type) for field in info.fields}
    required = [field.encode_name for field in info.fields if field.required]
    schema: dict[str, object] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _schema(info: inspect.Type) -> dict[str, object]:
    match info:
        case inspect.Metadata():
            return {**_schema(info.type), **(info.extra_json_schema or {})}
        case inspect.UnionType():
            kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            return _schema(kinds[0]) if len(kinds) == 1 else {"anyOf": [_schema(kind) for kind in kinds]}
        case inspect.StrType():
            return {"type": "string"}
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.IntType():
            return {"type": "integer", **_limits(info.ge, info.le)}
        case inspect.FloatType():
            return {"type": "number", **_limits(info.ge, info.le)}
        case inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case inspect.ListType() | inspect.VarTupleType():
            return {"type": "array", "items": _schema(info.item_type)}
        case inspect.StructType():
            return _object_schema(info)
        case inspect.DictType():
            return {"type": "object"}
        case _:
            raise TypeError(f"no schema for a parameter of the type {info!r}")


def _limits(minimum: float | None, maximum: float | None) -> dict[str, object]:
    limits = {"minimum": minimum, "maximum": maximum}
    return {name: value for name, value in limits.items() if value is not None}


def _by_field_name(arguments: JsonObject, known: Mapping[str, object], tool_name: str) -> dict[str, object]:
    by_plain_name = {_plain(name): name for name in known}
    given = {name: value for name, value in arguments.items() if name in known}
    for name, value in arguments.items():
        if name in known:
            continue
        meant = by_plain_name.get(_plain(name))
        if meant is None or meant in given:
            raise ArgumentsInvalid(
                f"{tool_name}: there is no parameter `{name}` (its value was {_shown(value)}).",
                f"Its parameters: {', '.join(known)}.",
            )
        given[meant] = value
    return given


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _missing(
    struct_type: type[msgspec.Struct], name: str, given: Mapping[str, object], tool_name: str
) -> ArgumentsInvalid:
    got = ", ".join(given) or "nothing"
    return ArgumentsInvalid(
        f"{tool_name}: `{name}` is missing; it must be {_expected(struct_type, name)}. Given: {got}.",
        "Call it again with it.",
    )


def _converted(
    struct_type: type[msgspec.Struct], name: str, wanted: object, value: object, tool_name: str
) -> object:
    problem = ""
    for attempt in (_same, _as_text, _as_list):
        candidate = attempt(value)
        if candidate is UNSET:
            continue
        try:
            return msgspec.convert(candidate, wanted, strict=False)
        except msgspec.ValidationError as error:
            problem = problem or str(error).partition(" - at ")[0]
    raise ArgumentsInvalid(
        f"{tool_name}: `{name}` is {_shown(value)}, but must be {_expected(struct_type, name)} ({problem}).",
        "Call it again with a value of that kind.",
    )


def _same(value: object) -> object:
    return value


def _as_text(value: object) -> object:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return json.dumps(value) if is_number else UNSET


def _as_list(value: object) -> object:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded: object = json.loads(value)
        except ValueError:
            return [value]
        return decoded
    return [value] if isinstance(value, (str, int, float)) else UNSET


def _expected(struct_type: type[msgspec.Struct], name: str) -> str:
    properties = schema_of(struct_type)["properties"]
    schema = properties[name] if isinstance(properties, Mapping) else {}
    if isinstance(choices := schema.get("enum"), Sequence):
        return "one of " + ", ".join(map(str, choices))
    described = schema.get("description")
    expected = EXPECTED.get(str(schema.get("type")), "one of the kinds in its schema")
    return f"{expected} ({described})" if described else expected


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_LIMIT_CHARS else text[:SHOWN_LIMIT_CHARS] + "…"


__all__ = ["parse", "schema_of", "text_of"]
