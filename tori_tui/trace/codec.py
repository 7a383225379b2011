"""One durable record as one line of JSON, and back.

Must not touch a file, and must not let any text stop a write.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from tori_tui.domain.events import (
    DURABLE_EVENTS,
    FileIntent,
    Fold,
    MessageAdded,
    Pin,
    ProcessRef,
    Record,
    Section,
)
from tori_tui.domain.goals import Budget, Evidence
from tori_tui.domain.messages import ContentPart, Message, ProviderPart, ToolCall
from tori_tui.domain.plan_edits import PLAN_EDITS
from tori_tui.domain.usage import Usage
from tori_tui.trace.decoders import DECODERS, Head
from tori_tui.trace.errors import BadLine
from tori_tui.trace.migrate import FORMAT_VERSION, check_version

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DEPTH_LIMIT: Final = 200
"""Values nested deeper are written as text; readers fail at Python's recursion limit of 1,000."""

_ALWAYS_WRITTEN: Final = frozenset({"context", "goal_id", "role", "content", "arguments"})

_KIND: Final = b'"kind":"'

_NOT_A_LINE: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)


def encode(record: Record) -> bytes:
    """Return the record's line, its newline included.

    Text that UTF-8 cannot hold (lone surrogates) gets U+FFFD in its place; values that JSON cannot
    hold are written as text.
    """
    event = record.event
    line: dict[str, object] = {
        "v": FORMAT_VERSION,
        "seq": record.seq,
        "ts": record.at.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z",
        "kind": event.kind,
    }
    _write_fields(line, event.message if isinstance(event, MessageAdded) else event)
    return to_json(line) + b"\n"


def decode(line: bytes) -> Record | None:
    """Return the record of a line; None where its kind is unknown (a later tori wrote it).

    Raises:
        TraceTooNew: The line has a newer format version.
        BadLine: It is no record.
    """
    try:
        decode_line = DECODERS[_kind_of(line)]
        if decode_line is None:
            check_version(_head_decoder.decode(line).v)
            return None
        version, record = decode_line(line)
    except _NOT_A_LINE as error:
        _check_version_alone(line)
        raise BadLine(str(error)) from error
    check_version(version)
    return record


def to_json(value: Mapping[str, object]) -> bytes:
    """Return plain values as JSON; what JSON or UTF-8 cannot hold is replaced, never refused."""
    try:
        return _encoder.encode(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return _encoder.encode(_writable(value, 0))


# ── writing ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a dataclass is written: its tag, and each field's name, reader and default."""

    op: str | None
    fields: tuple[tuple[str, Callable[[object], object], object], ...]


_NO_DEFAULT: Final = object()


def _default_of(field: dataclasses.Field[object]) -> object:
    if field.name in _ALWAYS_WRITTEN:
        return _NO_DEFAULT
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NO_DEFAULT


def _shape(cls: type[DataclassInstance], op: str | None = None) -> _Shape:
    return _Shape(op, tuple((f.name, attrgetter(f.name), _default_of(f)) for f in dataclasses.fields(cls)))


_NESTED: Final = (
    *(Message, ContentPart, ToolCall, ProviderPart, Usage),
    *(Section, Fold, Pin, ProcessRef, FileIntent, Evidence, Budget),
)
"""What stands in events beside plan edits; a class that is missing here is written with its defaults."""

_SHAPES: Final[Mapping[type, _Shape]] = MappingProxyType(
    {cls: _shape(cls) for cls in (*DURABLE_EVENTS, *_NESTED)}
    | {cls: _shape(cls, cls.op) for cls in PLAN_EDITS}
)


def _write_fields(target: dict[str, object], value: object) -> None:
    shape = _SHAPES.get(type(value))
    if shape is None:
        raise TypeError(f"{type(value).__name__} is no dataclass")
    if shape.op is not None:
        target["op"] = shape.op
    for name, read, default in shape.fields:
        item = read(value)
        if item == default or (type(item) is float and not math.isfinite(item)):
            continue
        target[name] = _plain(item)


def _plain(value: object) -> object:
    if type(value) is str:
        return value
    if type(value) is tuple:
        return [_plain(item) for item in value]
    if _SHAPES.get(type(value)) is None:
        return value
    target: dict[str, object] = {}
    _write_fields(target, value)
    return target


def _foreign(value: object) -> object:
    """Write what msgspec does not know; mappings of other kinds than dict stand in read-only values."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _writable(value: object, depth: int) -> object:
    """Return a value that can be written whatever it holds; the slow way, for the rare record."""
    if isinstance(value, str):
        # Joins surrogate pairs and replaces what stays alone.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth >= DEPTH_LIMIT:
        return "(nested too deeply)"
    if isinstance(value, Mapping):
        return {str(_writable(str(key), depth)): _writable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_writable(item, depth + 1) for item in value]
    return _writable(str(value), depth)


_encoder: Final = msgspec.json.Encoder(enc_hook=_foreign)

# ── reading ──────────────────────────────────────────────────────────────────────────────


class _Version(msgspec.Struct):
    v: int


_head_decoder: Final = msgspec.json.Decoder(Head)
_version_decoder: Final = msgspec.json.Decoder(_Version)


def _kind_of(line: bytes) -> bytes:
    """Return the kind of a line; as tori writes it, without a look at the rest of the line."""
    head, mark, rest = line.partition(_KIND)
    # Nothing nested before it: it is the line's own.
    if mark and head.rfind(b"{") == 0:
        return rest.partition(b'"')[0]
    return _head_decoder.decode(line).kind.encode()


def _check_version_alone(line: bytes) -> None:
    """Tell a newer format, whose head may look different, from a broken line."""
    try:
        version = _version_decoder.decode(line).v
    except _NOT_A_LINE:
        return
    check_version(version)


__all__ = ["decode", "encode", "to_json"]
