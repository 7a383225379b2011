"""Whether the arguments of a call that was written as text fit the tool's schema.

Must not convert or fill in anything; the tool itself does, with what is nearly right there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec

SHOWN_LIMIT_CHARS: Final = 60

KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str, int, float),
    "integer": (int, str),
    "number": (int, float, str),
    "boolean": (bool, str),
    "array": (list, tuple, str),
    "object": (dict,),
}
"""What a tool takes for each kind: `"10"` is a number, a number a text, one value a list."""


def misfit(tool: ToolSpec, arguments: JsonObject) -> str:
    """Return what does not fit, naming the field; empty where all does.

    Example:
        >>> misfit(ToolSpec("f", "", {"properties": {"a": {"type": "integer"}}, "required": ["a"]}), {})
        '`a` is missing'
    """
    schema = tool.parameters
    properties = schema.get("properties")
    known: Mapping[str, object] = properties if isinstance(properties, Mapping) else {}
    for name in arguments:
        if name not in known:
            return f"there is no parameter `{name[:SHOWN_LIMIT_CHARS]}` (there are: {', '.join(known)})"
    required = schema.get("required")
    for name in required if isinstance(required, Sequence) else ():
        if arguments.get(str(name)) is None:
            return f"`{name}` is missing"
    for name, value in arguments.items():
        if value is not None and not _is_of(value, known[name]):
            return f"`{name}` must be {_kind(known[name])}, not {str(value)[:SHOWN_LIMIT_CHARS]!r}"
    return ""


def _is_of(value: object, schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return True
    choices = schema.get("anyOf")
    if isinstance(choices, Sequence):
        return any(_is_of(value, choice) for choice in choices)
    allowed = schema.get("enum")
    if isinstance(allowed, Sequence) and value not in allowed:
        return False
    kind = str(schema.get("type", ""))
    if isinstance(value, bool):
        return kind in ("boolean", "")
    return isinstance(value, KINDS.get(kind, (object,)))


def _kind(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "another value"
    if isinstance(allowed := schema.get("enum"), Sequence):
        return "one of " + ", ".join(map(str, allowed))
    return str(schema.get("type", "of another kind"))


__all__ = ["misfit"]
