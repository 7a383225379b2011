"""One durable record as one line of JSON, and back.

Must not touch a file, and must not let any text stop a write.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, cast, get_type_hints

import msgspec

from tori_tui.domain.events import (
    DURABLE_EVENTS,
    DurableEvent,
    FileIntent,
    Fold,
    MessageAdded,
    Pin,
    ProcessRef,
    Record,
    Section,
)
from tori_tui.domain.goals import Budget, Evidence
from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import ContentPart, Message, ProviderPart, ToolCall
from tori_tui.domain.plan_edits import PLAN_EDITS, PlanEdit
from tori_tui.domain.usage import Usage
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
        decode_line = _line_decoders[_kind_of(line)]
        if decode_line is None:
            check_version(_head_decoder.decode(line).v)
            return None
        head, event = decode_line(line)
    except _NOT_A_LINE as error:
        _check_version_alone(line)
        raise BadLine(str(error)) from error
    check_version(head.v)
    return Record(head.seq, head.ts, event)


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


class _Head(msgspec.Struct):
    v: int
    seq: Annotated[Seq, msgspec.Meta(ge=1)]
    ts: Annotated[datetime, msgspec.Meta(tz=True)]
    kind: str


_LineDecoder = Callable[[bytes], tuple[_Head, DurableEvent]]


class _Version(msgspec.Struct):
    v: int


class _EditHead(msgspec.Struct):
    op: str


_head_decoder: Final = msgspec.json.Decoder(_Head)
_version_decoder: Final = msgspec.json.Decoder(_Version)
_edit_head_decoder: Final = msgspec.json.Decoder(_EditHead)


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


_EDIT_DECODERS: Final = MappingProxyType({cls.op: msgspec.json.Decoder(cls) for cls in PLAN_EDITS})


def _edits(raws: tuple[msgspec.Raw, ...]) -> tuple[PlanEdit, ...]:
    """Decode plan edits by their tag; unknown ones are left out as unknown kinds are."""
    pairs = ((_EDIT_DECODERS.get(_edit_head_decoder.decode(raw).op), raw) for raw in raws)
    return tuple(decoder.decode(raw) for decoder, raw in pairs if decoder is not None)


def _struct_default(field: dataclasses.Field[object]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.NODEFAULT


def _line_type(cls: type[DataclassInstance], **types: object) -> type[_Head]:
    """Return a struct of a line's head and a dataclass's fields, untyped but for some.

    It holds the default of what a line leaves out. For a dataclass itself msgspec finds each field that is
    missing by an error: half the time of a line.
    """
    fields = [(f.name, types.get(f.name, object), _struct_default(f)) for f in dataclasses.fields(cls)]
    made = msgspec.defstruct(cls.__name__, fields, bases=(_Head,), kw_only=True, gc=False)
    return cast("type[_Head]", made)


def _line_decoder(cls: type[DurableEvent]) -> _LineDecoder:
    if cls is MessageAdded:
        read_message = msgspec.json.Decoder(_line_type(Message)).decode
        return lambda line: _with_message(read_message(line))
    hints = get_type_hints(cls)
    edit_fields = frozenset(name for name, hint in hints.items() if hint == tuple[PlanEdit, ...])
    if not edit_fields:
        read = msgspec.json.Decoder(_line_type(cls)).decode
        return lambda line: _converted(read(line), cls)
    # msgspec takes no union of dataclasses: the edits stay raw at first.
    names = tuple(f.name for f in dataclasses.fields(cls))
    types = {name: tuple[msgspec.Raw, ...] if name in edit_fields else hints[name] for name in names}
    read = msgspec.json.Decoder(_line_type(cls, **types)).decode
    build: Callable[..., DurableEvent] = cls

    def with_edits(line: bytes) -> tuple[_Head, DurableEvent]:
        head = read(line)
        values = ((name, getattr(head, name)) for name in names)
        return head, build(**{name: _edits(v) if name in edit_fields else v for name, v in values})

    return with_edits


def _converted(head: _Head, cls: type[DurableEvent]) -> tuple[_Head, DurableEvent]:
    return head, msgspec.convert(head, cls, from_attributes=True)


def _with_message(head: _Head) -> tuple[_Head, DurableEvent]:
    return head, MessageAdded(msgspec.convert(head, Message, from_attributes=True))


class _LineDecoders(dict[bytes, "_LineDecoder | None"]):
    """What decodes each kind of line, made when the first of it comes: a millisecond for each."""

    def __missing__(self, kind: bytes) -> _LineDecoder | None:
        cls = _EVENT_KINDS.get(kind)
        if cls is None:
            return None  # and not kept: a file may hold any number of them
        decoder = self[kind] = _line_decoder(cls)
        return decoder


_EVENT_KINDS: Final = MappingProxyType({cls.kind.encode(): cls for cls in DURABLE_EVENTS})

_line_decoders: Final = _LineDecoders()

__all__ = ["decode", "encode", "to_json"]
